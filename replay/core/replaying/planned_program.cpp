#include "core/replaying/planned_program.h"

#include <algorithm>
#include <exception>
#include <vector>

#include "core/base/digest.h"
#include "core/files/durable.h"
#include "core/process/process.h"

namespace flor::core {
namespace {

std::string digest_if_readable(const std::string& path) {
  try {
    return digest_of(read_named_file(path));
  } catch (const std::exception&) {
    return "";
  }
}

// argv[0] may be any name of the program.
bool have_equal_arguments(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  return one.size() == other.size() &&
         (one.empty() || std::equal(one.begin() + 1, one.end(), other.begin() + 1));
}

}  // namespace

std::string not_as_planned(const Plan& plan, const Manifest& manifest) {
  if (std::string why = of_other_attempt(plan, manifest); !why.empty()) return why;
  if (plan.program.empty()) return "";
  const std::string own = digest_if_readable("/proc/self/exe");
  for (const auto& [path, digest] : plan.program) {
    if (digest == own) continue;
    const std::string now = digest_if_readable(path);
    if (!now.empty() && now != digest)
      return path + " has changed since this replay was planned; start flor replay again for its rows";
  }
  return "";
}

bool has_other_arguments(const Plan& plan, const Manifest& manifest) {
  const auto own = command_line();
  return !have_equal_arguments(own, plan.command) && !have_equal_arguments(own, manifest.command);
}

}  // namespace flor::core
