#include "core/config/conf.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

namespace flor::core {
namespace {

// docs/reference.md lists them; scripts/reference compares the two.
constexpr std::array<std::string_view, 11> known_keys{"store", "redis",        "epsilon",     "every",
                                                      "mtbf",  "step_seconds", "keep",        "local",
                                                      "grace", "spool_rate",   "materializer"};

std::string trim(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

struct ConfLine {
  std::size_t number = 0;
  // Without a key, the line is no `key = value`.
  std::string text, key, value;
};

// Returns the lines that hold more than a comment.
std::vector<ConfLine> lines_of(const std::string& text) {
  std::vector<ConfLine> out;
  std::istringstream in(text);
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const auto equals = line.find('=');
    if (equals == std::string::npos) {
      out.push_back({number, line, "", ""});
    } else {
      out.push_back({number, line, trim(line.substr(0, equals)), trim(line.substr(equals + 1))});
    }
  }
  return out;
}

}  // namespace

std::map<std::string, std::string> parse_conf(const std::string& text) {
  std::map<std::string, std::string> out;
  for (const auto& line : lines_of(text)) {
    if (!line.key.empty() && !line.value.empty()) out[line.key] = line.value;
  }
  return out;
}

std::vector<std::string> conf_problems(const std::string& text) {
  std::vector<std::string> out;
  for (const auto& line : lines_of(text)) {
    const std::string where = "line " + std::to_string(line.number) + ": ";
    if (line.key.empty()) {
      // A URL may hold a password.
      const std::string shown = line.text.find('@') == std::string::npos ? "'" + line.text + "'" : "it";
      out.push_back(where + shown + " is passed over: a setting is written as `key = value`");
    } else if (std::find(known_keys.begin(), known_keys.end(), line.key) == known_keys.end()) {
      out.push_back(where + "'" + line.key + "' is passed over: there is no such setting (misspelled?)");
    }
  }
  return out;
}

std::string without_password(const std::string& url) {
  const bool is_socket = url.rfind("unix://", 0) == 0;
  const std::string scheme = is_socket ? "unix://" : "redis://";
  const auto at = is_socket ? url.rfind("@/") : url.rfind('@');
  if (url.rfind(scheme, 0) != 0 || at == std::string::npos) return url;
  // A path without a login.
  if (is_socket && url[scheme.size()] == '/') return url;
  const std::string login = url.substr(scheme.size(), at - scheme.size());
  const std::string user = login.substr(0, login.find(':'));
  return scheme + (user.empty() ? url.substr(at + 1) : user + url.substr(at));
}

}  // namespace flor::core
