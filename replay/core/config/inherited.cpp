#include "core/config/inherited.h"

#include <cstdlib>

namespace flor::core {
namespace {

constexpr const char* restarts_variable = "SLURM_RESTART_COUNT";
constexpr const char* array_variable = "SLURM_ARRAY_JOB_ID";

bool is_other(const std::string& value, std::int64_t own) {
  return !value.empty() && value != std::to_string(own);
}

}  // namespace

bool may_be_inherited(const ReadVariable& environment) {
  return !environment(restarts_variable).empty() || !environment(array_variable).empty();
}

std::string inherited_names(const ReadVariable& environment, const JobNumbers& job) {
  std::string out;
  if (is_other(environment(restarts_variable), job.restarts)) out = restarts_variable;
  if (is_other(environment(array_variable), job.array))
    out += std::string(out.empty() ? "" : " ") + array_variable + " SLURM_ARRAY_TASK_ID";
  return out;
}

std::string slurm_variable(const ReadVariable& environment, const std::string& name) {
  const std::string inherited = " " + environment(inherited_variable) + " ";
  return inherited.find(" " + name + " ") == std::string::npos ? environment(name.c_str()) : "";
}

std::optional<std::string> slurm_variable(const char* name) {
  const auto read = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::string(value == nullptr ? "" : value);
  };
  std::string value = slurm_variable(read, name);
  return value.empty() ? std::nullopt : std::optional(std::move(value));
}

}  // namespace flor::core
