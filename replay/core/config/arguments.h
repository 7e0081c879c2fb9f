// Hyper-parameters of a recording: as given, or, where it is resumed, as they were recorded.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace flor::core {

// Hyper-parameters of FLOR_ARGS: one name=value a line.
std::map<std::string, std::string> given_arguments();

class Arguments {
 public:
  Arguments() = default;
  explicit Arguments(std::map<std::string, std::string> recorded)
      : used_(recorded), recorded_(std::move(recorded)) {}

  // Nothing: the program's own default. A given value that a recorded one overrules is said.
  std::optional<std::string> value(const std::string& name) const;
  void use(const std::string& name, const std::string& value) {
    used_[name] = value;
    asked_.insert(name);
  }
  // What was given, and the program never asked for: mistyped, most likely.
  std::vector<std::string> unasked() const;
  const std::map<std::string, std::string>& used() const { return used_; }

 private:
  std::map<std::string, std::string> used_, recorded_;
  std::set<std::string> asked_;
};

}  // namespace flor::core
