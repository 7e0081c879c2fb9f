#include "core/config/arguments.h"

#include <sstream>

#include "core/base/messages.h"
#include "core/config/settings.h"

namespace flor::core {

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

std::optional<std::string> Arguments::value(const std::string& name) const {
  const auto all = given_arguments();
  const auto given = all.find(name);
  const auto recorded = recorded_.find(name);
  if (recorded == recorded_.end()) return given == all.end() ? std::nullopt : std::optional(given->second);
  if (given != all.end() && given->second != recorded->second)
    warn_once("argument " + name + " is " + recorded->second + ", as it was recorded, and not " +
              given->second + ": the recording is resumed");
  return recorded->second;
}

std::vector<std::string> Arguments::unasked() const {
  std::vector<std::string> out;
  for (const auto& [name, value] : given_arguments())
    if (asked_.count(name) == 0) out.push_back(name);
  return out;
}

}  // namespace flor::core
