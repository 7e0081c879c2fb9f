#include "core/arguments.h"

#include "core/session.h"

namespace flor::core {

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
