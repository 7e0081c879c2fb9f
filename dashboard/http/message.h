// What a browser asks of the dashboard, and what it gets. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flor::dashboard {

struct Target {
  // Percent-decoded: "/run/r1".
  std::string path;
  std::map<std::string, std::string> query;
};
// Parses the target of a request line, "/run/r1?name=loss". Returns std::nullopt unless it begins with `/`,
// and where it holds a control character, a broken percent escape, or a path element "..", also where an
// escape hides one.
std::optional<Target> target_from(std::string_view text);

struct Request {
  std::string method;
  Target target;
  // Headers; empty where the browser sent none.
  std::string host, origin, authorization, last_event_id;
};

struct Response {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};
  // An event stream instead of a body: the server sends what its Feed has, and goes on.
  bool is_stream = false;
};

}  // namespace flor::dashboard
