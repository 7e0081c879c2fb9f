// Looks up settings for the library and the commands: first the environment (FLOR_STORE, …), which flags set
// too, then the user's flor.conf, then the system's.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace flor::core {

class Settings {
 public:
  // Reads both flor.conf files once. Warns about what it cannot use in them and ignores it.
  static Settings load();
  explicit Settings(std::map<std::string, std::string> from_files) : files_(std::move(from_files)) {}

  // The environment variable alone: what the user asked for by a flag or by hand.
  static std::optional<std::string> asked(const std::string& key);

  // The environment variable variable_of(key), else the files. An empty value counts as absent.
  std::optional<std::string> get(const std::string& key) const;

  // The value of flor.conf, whatever the environment says.
  std::optional<std::string> from_files(const std::string& key) const;

  // Returns the path of the flor.conf that holds the password of Redis and can be read by other users; empty
  // if there is none.
  const std::string& exposed() const { return exposed_; }

  // Returns FLOR_ and the key in capitals.
  static std::string variable_of(const std::string& key);

  // The setting `store`, by default ~/.flor. Where HOME is unset, the home directory is that of the user's
  // account.
  std::string store() const;
  // The setting `local`: the directory of the local tier, absolute. std::nullopt: checkpoints go straight to
  // the store.
  std::optional<std::string> local() const;

 private:
  std::map<std::string, std::string> files_;
  std::string exposed_;
};

// Resolves a directory as users name it: ~ is the home directory, and a relative path starts in the working
// directory.
std::string absolute_directory(std::string path);

// Returns std::nullopt where the variable is unset or empty.
std::optional<std::string> environment_variable(const char* name);

// Returns after how many seconds without progress the store counts as hung: 60, or FLOR_HUNG_SECONDS, which
// is for tests.
double hung_seconds();

// Returns for how many seconds a recording that goes on waits for a file server that refuses to read its
// record: 180, or FLOR_PATIENCE. Warns where that is no number of seconds.
double patience_seconds();

// Returns SLURMD_NODENAME, else the host name up to its first dot.
std::string node_name();

// Returns the path of the agent's socket: FLOR_AGENT_SOCKET, else agent-NODE.sock in the first of these
// directories that can be used:
//
// $XDG_RUNTIME_DIR/flor, where XDG_RUNTIME_DIR exists and belongs to the user; /tmp/flor-UID, which is
// created where it is missing; where /tmp/flor-UID is another user's, the first directory of this user that
// is named /tmp/flor-UID.XXXXXX; one is created where there is none.
//
// So every later call on this node finds the same socket.
std::string agent_socket_path();

}  // namespace flor::core
