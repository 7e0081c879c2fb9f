// A connection to Redis for the queue and the commands: RAII over hiredis 0.14 and 1.x.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace flor::queue {

// Redis cannot be used now: it is unreachable, slow, loading, full or read-only. Trying again later may help.
// The text shows the URL without its password.
class RedisDown : public core::Error {
 public:
  using core::Error::Error;
};

// Redis answered a command with an error that does not go away by trying again.
class RedisRefused : public core::Error {
 public:
  using core::Error::Error;
};

// redis://[user:password@]host[:port][/db] or unix://[user:password@]/path. User and password can be
// percent-encoded. An IPv6 address is written in brackets.
struct RedisUrl {
  std::string host;  // empty for a unix socket
  int port = 6379;
  std::string path;  // of the unix socket
  std::string user, password;
  int db = 0;

  // Throws core::UsageError, whose text does not show the password.
  static RedisUrl parse(const std::string& url);
  // Returns the URL without the password.
  std::string shown() const;
};

// The answer to a command, copied out of hiredis. No access throws: what is missing reads as nil.
struct Reply {
  enum class Kind { nil, integer, text, list };
  Kind kind = Kind::nil;
  int64_t integer = 0;
  std::string text;
  std::vector<Reply> items;

  bool is_nil() const { return kind == Kind::nil; }
  // Returns the text, or the digits of an integer, or "".
  std::string str() const;
  // Returns the integer, or the text parsed as one, or `otherwise`.
  int64_t num(int64_t otherwise = 0) const;
  // Returns item `index`, or a nil reply if there is none.
  const Reply& at(std::size_t index) const;
};

// A Lua script, embedded at build time.
struct Script {
  const char* name;
  const char* sha1;      // of `text`
  const char* function;  // its name in the library of functions (queue/acl.h)
  std::string_view text;
};

// Connects at the first command, and again after a failure. Not thread-safe: use one object per thread.
// Blocks SIGPIPE while it writes. The descriptor is close-on-exec. Does not send a password to another user
// who listens on this machine (queue/listener.h).
class Redis {
 public:
  // `timeout` limits the connecting, and each read and write. Throws core::UsageError for a bad URL.
  explicit Redis(const std::string& url, std::chrono::milliseconds timeout = std::chrono::seconds(2));
  ~Redis();
  Redis(Redis&&) noexcept;
  Redis& operator=(Redis&&) noexcept;

  // Throws RedisDown or RedisRefused. After RedisDown, the command may have been executed or not.
  Reply command(const std::vector<std::string>& args);

  // Runs a script with EVALSHA, or with EVAL if the server does not know it (after a restart, say). A login
  // that may not run scripts calls the function that an administrator has loaded. Throws RedisRefused if that
  // function is missing.
  Reply run(const Script& script, const std::vector<std::string>& keys, const std::vector<std::string>& args);

  // Returns the `run_id` of the server process. It changes with every restart of Redis.
  const std::string& server_id();

  // Returns true if a connection was opened and has not failed since.
  bool connected() const;
  const RedisUrl& url() const { return url_; }

 private:
  struct Connection;
  void connect();
  Reply exchange(const std::vector<std::string>& args);
  Reply call(const Script& script, std::vector<std::string> words);
  [[noreturn]] void down(const std::string& why);

  RedisUrl url_;
  std::chrono::milliseconds timeout_;
  std::unique_ptr<Connection> connection_;
  std::string server_id_;
  bool by_functions_ = false;  // this login may not run scripts, and calls functions
};

}  // namespace flor::queue
