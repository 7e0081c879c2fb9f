// A redis-server for one `flor replay`, where no Redis is configured. Listens on a unix socket, and writes
// nothing to disk: the queue can be rebuilt from files. Ends with this object, or with this process.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace flor::dispatch {

namespace fs = std::filesystem;

class PrivateRedis {
 public:
  // Starts the server, and returns when it answers. First removes what a killed server left in the directory
  // `beside`, so no other server may live there. Puts the socket there, or in a new directory of mode 0700 if
  // its path is too long or the server does not start there. Throws core::Error with one line: redis-server
  // is not installed, or did not start.
  explicit PrivateRedis(const fs::path& beside);
  ~PrivateRedis();
  PrivateRedis(const PrivateRedis&) = delete;
  PrivateRedis& operator=(const PrivateRedis&) = delete;

  std::string url() const { return "unix://" + socket_.string(); }

 private:
  // Returns false if the server ended, or does not answer within 10 s.
  bool start();
  void stop();

  fs::path directory_;  // created for the socket; empty: the socket lies in `beside`
  fs::path socket_, log_;
  pid_t pid_ = -1;
};

}  // namespace flor::dispatch
