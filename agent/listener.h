// The agent's unix socket: made private to this user, taken over from a dead agent, left alone while one
// lives.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "core/files/descriptor.h"
#include "core/store/store.h"

namespace flor::agent {

using core::Descriptor;

// A connection of this user, and who opened it.
struct Peer {
  Descriptor socket;
  Descriptor process;  // a pidfd, readable when the process is gone; empty where the kernel has none
  pid_t pid = 0;
  bool gone = false;  // the process ended before it could be watched
};

class Listener {
 public:
  // Listens on the socket, mode 0600. Nothing when another agent does. Throws core::Error.
  static std::optional<Listener> take(const std::string& socket);
  Listener(Listener&&) noexcept = default;
  Listener& operator=(Listener&&) noexcept = delete;
  // Removes the socket, while the lock is still held.
  ~Listener();

  int fd() const { return socket_.get(); }
  // Nothing when nobody waits, or when the peer is another user, which is said in the log.
  std::optional<Peer> accept();
  // Did the last accept() fail for lack of descriptors or memory? The log says so once, and the peer waits
  // on.
  bool starved() const { return starved_; }

 private:
  Listener(std::string path, core::FileLock lock, Descriptor socket);
  std::string path_;
  core::FileLock lock_;
  Descriptor socket_;
  bool starved_ = false;
};

}  // namespace flor::agent
