#include <cctype>
#include <charconv>

#include "queue/redis.h"

namespace flor::queue {
namespace {

[[noreturn]] void bad(const std::string& why) {
  // The URL itself is not shown: it may hold a password.
  throw core::UsageError("the Redis URL " + why +
                         "; write redis://[user:password@]host[:port][/db] or unix://[user:password@]/path "
                         "(FLOR_REDIS, or redis in "
                         "flor.conf)");
}

int number(std::string_view text, int low, int high, const char* what) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    bad(std::string("has a ") + what + " that is no number from " + std::to_string(low) + " to " +
        std::to_string(high));
  }
  return value;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned value = 0;
    const char* begin = text.data() + i + 1;
    if (i + 2 >= text.size() || std::from_chars(begin, begin + 2, value, 16).ptr != begin + 2) {
      bad("has a '%' in its user or password that no two hex digits follow");
    }
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

// Reads host, host:port, [address] or [address]:port.
void read_host(std::string_view text, RedisUrl& out) {
  std::string_view port;
  if (!text.empty() && text.front() == '[') {
    const auto close = text.find(']');
    if (close == std::string_view::npos) bad("has a '[' without ']'");
    out.host = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
    if (!text.empty() && text.front() != ':') bad("has something behind ']'");
    port = text.empty() ? text : text.substr(1);
  } else {
    const auto colon = text.find(':');
    out.host = text.substr(0, colon);
    if (colon != std::string_view::npos) port = text.substr(colon + 1);
  }
  if (out.host.empty()) bad("names no host");
  if (!port.empty()) out.port = number(port, 1, 65535, "port");
}

// Reads user:password. Each is percent-encoded if it has a special character.
void read_login(std::string_view login, RedisUrl& out) {
  const auto colon = login.find(':');
  if (colon == std::string_view::npos) bad("has a user without a password, and no flor.conf has one");
  out.user = percent_decoded(login.substr(0, colon));
  out.password = percent_decoded(login.substr(colon + 1));
}

}  // namespace

RedisUrl RedisUrl::parse(const std::string& url) {
  RedisUrl out;
  for (const char c : url) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0 || c == ' ')
      bad("holds a blank or control character");
  }
  std::string_view rest = url;
  if (rest.rfind("unix://", 0) == 0) {
    rest.remove_prefix(7);
    // A text that begins with '/' is all path, even if it has an '@'.
    if (const auto at = rest.rfind("@/"); at != std::string_view::npos && rest.front() != '/') {
      read_login(rest.substr(0, at), out);
      rest.remove_prefix(at + 1);
    }
    out.path = rest;
    if (out.path.empty() || out.path.front() != '/') bad("names no absolute path of a socket");
    return out;
  }
  if (rest.rfind("rediss://", 0) == 0)
    bad("asks for TLS, which Flor does not speak: lead it through a tunnel (stunnel, ssh -L), and give the "
        "tunnel's "
        "end on this machine");
  if (rest.rfind("redis://", 0) != 0) bad("does not begin with redis:// or unix://");
  rest.remove_prefix(8);
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    read_login(rest.substr(0, at), out);
    rest.remove_prefix(at + 1);
  }
  const auto slash = rest.find('/');
  if (slash != std::string_view::npos && slash + 1 < rest.size()) {
    out.db = number(rest.substr(slash + 1), 0, 1 << 20, "database");
  }
  read_host(rest.substr(0, slash), out);
  return out;
}

std::string RedisUrl::shown() const {
  if (host.empty()) return "unix://" + (user.empty() ? "" : user + "@") + path;
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return "redis://" + (user.empty() ? "" : user + "@") + name + ":" + std::to_string(port) +
         (db == 0 ? "" : "/" + std::to_string(db));
}

}  // namespace flor::queue
