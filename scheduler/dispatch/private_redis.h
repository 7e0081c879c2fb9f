// A redis-server of one `flor replay`'s own: on a unix socket, without persistence (the queue is rebuilt from
// files), stopped when this object or this process ends.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace flor::dispatch {

namespace fs = std::filesystem;

class PrivateRedis {
 public:
  // One at a time in `beside`: what a killed one left there is removed. The socket lies in `beside`, where
  // its path is short enough for one; else in a fresh directory of mode 0700. Returns when the server
  // answers. Throws core::Error in one line: not installed, or why it did not start.
  explicit PrivateRedis(const fs::path& beside);
  ~PrivateRedis();
  PrivateRedis(const PrivateRedis&) = delete;
  PrivateRedis& operator=(const PrivateRedis&) = delete;

  std::string url() const { return "unix://" + socket_.string(); }

 private:
  bool start();  // false: it ended, or does not answer
  void stop();

  fs::path directory_;  // made for the socket; empty: beside the run
  fs::path socket_, log_;
  pid_t pid_ = -1;
};

}  // namespace flor::dispatch
