// The agent's unix socket. It is private to this user. Only one agent can have it; it is taken over from a
// dead agent.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "core/files/descriptor.h"
#include "core/store/store.h"

namespace flor::agent {

using core::Descriptor;

// A connection of this user, and the process that opened it.
struct Peer {
  Descriptor socket;
  Descriptor process;  // a pidfd, readable when the process is gone; empty if the kernel has no pidfds
  pid_t pid = 0;
  bool gone = false;  // the process ended before it could be watched
};

class Listener {
 public:
  // Creates the socket, with mode 0600, and listens. Returns nullopt if another agent has it. Throws
  // core::Error. Changes the umask of the process for a moment, so call it before there are threads that
  // create files.
  static std::optional<Listener> take(const std::string& socket);
  Listener(Listener&&) noexcept = default;
  Listener& operator=(Listener&&) noexcept = delete;
  // Removes the socket, while the lock is still held.
  ~Listener();

  int fd() const { return socket_.get(); }
  // Accepts the next connection. Returns nullopt if none waits, or if the peer is another user, which is
  // logged.
  std::optional<Peer> accept();
  // Returns true if the last accept() failed for lack of descriptors or memory. This is logged once, and the
  // peer keeps waiting.
  bool starved() const { return starved_; }

 private:
  Listener(std::string path, core::FileLock lock, Descriptor socket);
  std::string path_;
  core::FileLock lock_;
  Descriptor socket_;
  bool starved_ = false;
};

}  // namespace flor::agent
