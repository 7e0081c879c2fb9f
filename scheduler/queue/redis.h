// One connection to Redis: RAII over hiredis 0.14 and 1.x.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace flor::queue {

// Redis cannot be used now: unreachable, timed out, loading, full, read-only. Trying again later may help.
// The text names the URL without its password.
class RedisDown : public core::Error {
 public:
  using core::Error::Error;
};

// Redis answered a command with an error that trying again does not cure.
class RedisRefused : public core::Error {
 public:
  using core::Error::Error;
};

// redis://[user:password@]host[:port][/db] or unix://[user:password@]/path. User and password may be
// percent-encoded; an IPv6 address stands in brackets.
struct RedisUrl {
  std::string host;  // empty: a unix socket
  int port = 6379;
  std::string path;  // of the unix socket
  std::string user, password;
  int db = 0;

  static RedisUrl parse(const std::string& url);  // throws core::UsageError, never showing the password
  std::string shown() const;                      // without the password
};

struct Reply {
  enum class Kind { nil, integer, text, list };
  Kind kind = Kind::nil;
  int64_t integer = 0;
  std::string text;
  std::vector<Reply> items;

  bool is_nil() const { return kind == Kind::nil; }
  // The text, an integer's digits, or "".
  std::string str() const;
  // The integer, or the number that the text spells, or `otherwise`.
  int64_t num(int64_t otherwise = 0) const;
  // Item `index`, or a nil reply.
  const Reply& at(std::size_t index) const;
};

// A Lua script, embedded at build time.
struct Script {
  const char* name;
  const char* sha1;      // of `text`
  const char* function;  // its name in the library of functions (queue/acl.h)
  std::string_view text;
};

// Connects at the first command and again after a failure. Not thread-safe: one object per thread.
// Safe against SIGPIPE; the descriptor is close-on-exec. A password is sent to no stranger who listens on
// this machine (queue/listener.h).
class Redis {
 public:
  explicit Redis(const std::string& url, std::chrono::milliseconds timeout = std::chrono::seconds(2));
  ~Redis();
  Redis(Redis&&) noexcept;
  Redis& operator=(Redis&&) noexcept;

  // Throws RedisDown or RedisRefused. After RedisDown it is unknown whether the command was executed.
  Reply command(const std::vector<std::string>& args);

  // EVALSHA, and EVAL where the server does not know the script (a restarted one). A login that may run no
  // scripts of its own calls the function that the server's owner has loaded. Throws RedisRefused where that
  // is missing.
  Reply run(const Script& script, const std::vector<std::string>& keys, const std::vector<std::string>& args);

  // The `run_id` of the server process: another one after every restart of Redis.
  const std::string& server_id();

  // Is a connection open, as far as is known?
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
  bool by_functions_ = false;  // this login may not run scripts
};

}  // namespace flor::queue
