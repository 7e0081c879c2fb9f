#include "core/replaying/planned_program.h"

#include <exception>

#include "core/base/digest.h"
#include "core/files/durable.h"

namespace flor::core {
namespace {

std::string digest_of_file(const std::string& path) {
  try {
    return digest_of(read_named_file(path));
  } catch (const std::exception&) {
    return "";
  }
}

}  // namespace

std::string other_program(const Plan& plan) {
  if (plan.program.empty()) return "";
  const std::string own = digest_of_file("/proc/self/exe");
  for (const auto& [path, digest] : plan.program) {
    if (digest == own) continue;
    const std::string now = digest_of_file(path);
    if (!now.empty() && now != digest)
      return path + " has changed since this replay was planned; start flor replay again for its rows";
  }
  return "";
}

}  // namespace flor::core
