// Where a setting comes from: flag, then environment (FLOR_STORE, …), then the user's flor.conf, then the
// system's.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace flor::core {

class Settings {
 public:
  // Reads both flor.conf files once. What Flor cannot use in them is warned about and passed over.
  static Settings load();
  explicit Settings(std::map<std::string, std::string> from_files) : files_(std::move(from_files)) {}

  // The environment variable alone: what was asked for by a flag, or by the user's hand.
  static std::optional<std::string> asked(const std::string& key);

  // The environment variable FLOR_<KEY in capitals>, then the files. Empty values count as absent.
  std::optional<std::string> get(const std::string& key) const;

  // What flor.conf says, whatever the environment does.
  std::optional<std::string> from_files(const std::string& key) const;

  // The flor.conf that holds a password of Redis and can be read by other users; empty: none does.
  const std::string& exposed() const { return exposed_; }

  // FLOR_<KEY in capitals>.
  static std::string variable_of(const std::string& key);

  // `store`, default ~/.flor (the home directory of the user's account when HOME is unset).
  std::string store() const;
  // `local`: the directory of the local tier, absolute. Nothing: checkpoints go straight to the store.
  std::optional<std::string> local() const;

 private:
  std::map<std::string, std::string> files_;
  std::string exposed_;
};

// As users name directories: ~ is the home directory, and a relative one is of the working directory.
std::string absolute_directory(std::string path);

std::optional<std::string> environment_variable(const char* name);

// SLURMD_NODENAME, else the host name up to its first dot.
std::string node_name();

// FLOR_AGENT_SOCKET, else agent-NODE.sock in $XDG_RUNTIME_DIR/flor where XDG_RUNTIME_DIR exists and is the
// user's, else in /tmp/flor-UID, which is created where it is missing; where that is another user's, in the
// first directory of this user's own that is named /tmp/flor-UID.XXXXXX, one of which is created where none
// is. So whoever asks afterwards on this node finds the same one.
std::string agent_socket_path();

}  // namespace flor::core
