#include "core/session.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <set>
#include <sstream>

#include "core/durable.h"
#include "core/json.h"
#include "core/printable.h"

namespace flor::core {
namespace {

std::string current_directory() {
  std::error_code ignored;
  return std::filesystem::current_path(ignored).string();
}

// Read when the library is loaded: a program may change its directory before it reaches its first loop.
const std::string started_in = current_directory();

}  // namespace

const std::string& start_directory() {
  return started_in;
}

Line row_line(const Row& row, const Scope& scope, int64_t attempt) {
  auto quoted = [](const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  std::string head = "{\"name\":" + quoted(row.name) + ",\"value\":" + row.value;
  std::string tail;
  for (const auto& [name, value] : scope.loops()) tail += "," + quoted(name) + ":" + std::to_string(value);
  tail += ",\"@at\":" + quoted(scope.path());
  if (row.is_volatile) tail += ",\"@volatile\":true";
  if (attempt > 0) tail += ",\"@attempt\":" + std::to_string(attempt);
  tail += '}';
  if (row.later.valid()) return {std::move(head), row.later, std::move(tail)};
  return head + tail;
}

std::map<std::string, std::string> given_arguments() {
  std::map<std::string, std::string> out;
  std::istringstream in(environment_variable("FLOR_ARGS").value_or(""));
  for (std::string line; std::getline(in, line);) {
    const auto equals = line.find('=');
    if (equals != std::string::npos && equals > 0) {
      out[line.substr(0, equals)] = line.substr(equals + 1);
    } else if (!line.empty()) {
      warn_once("FLOR_ARGS has one NAME=VALUE a line, such as lr=0.1; '" + line +
                "' is not and is passed over");
    }
  }
  return out;
}

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::vector<std::string> command_line() {
  std::vector<std::string> out;
  std::istringstream in(read_file("/proc/self/cmdline"));
  for (std::string word; std::getline(in, word, '\0');) out.push_back(word);
  return out;
}

void warn(const std::string& line) {
  say("warning: " + line);
}

void warn_once(const std::string& line) {
  static std::mutex mutex;
  static auto* said = new std::set<std::string>();  // outlives the last exit handler
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!said->insert(line).second) return;
  }
  warn(line);
}

void say(const std::string& line) {
  // One write: lines of several processes that share a terminal or file stay whole.
  const std::string text = "flor: " + printable_lines(line) + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace flor::core
