// Hyper-parameters of a recording: as given, or as recorded where the recording is resumed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace flor::core {

// Reads FLOR_ARGS: one NAME=VALUE a line. Warns about other lines and skips them.
std::map<std::string, std::string> given_arguments();

// Serves flor::arg(): which value an argument has, and which arguments the program used. Not thread-safe.
class Arguments {
 public:
  Arguments() = default;
  explicit Arguments(std::map<std::string, std::string> recorded)
      : used_(recorded), recorded_(std::move(recorded)) {}

  // Returns std::nullopt where the program's default applies. A recorded value wins over a given one, with a
  // warning where they differ.
  std::optional<std::string> value(const std::string& name) const;
  void use(const std::string& name, const std::string& value) {
    used_[name] = value;
    asked_.insert(name);
  }
  // Arguments that were given but never read: misspelled, most likely.
  std::vector<std::string> unasked() const;
  const std::map<std::string, std::string>& used() const { return used_; }

 private:
  std::map<std::string, std::string> used_, recorded_;
  std::set<std::string> asked_;
};

}  // namespace flor::core
