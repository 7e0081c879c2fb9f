#include "task_environment.h"

#include "core/config/inherited.h"

namespace flor::spank {

TaskEnvironment::TaskEnvironment(spank_t spank, std::uint32_t job)
    : spank_(spank), job_(std::to_string(job)), own_(OwnValues::from(get(kOwnValues))) {}

std::string TaskEnvironment::get(const char* name) const {
  char** entries = nullptr;
  if (spank_get_item(spank_, S_JOB_ENV, &entries) != ESPANK_SUCCESS || entries == nullptr) return "";
  const std::string prefix = std::string(name) + "=";
  for (; *entries != nullptr; ++entries) {
    const std::string entry = *entries;
    if (entry.rfind(prefix, 0) == 0) return entry.substr(prefix.size());
  }
  return "";
}

void TaskEnvironment::set(const char* name, const std::string& value) {
  own_.set_job(job_);
  own_.note(name, get(name), value);
  for (const auto& [key, text] : {std::pair(name, value), std::pair(kOwnValues, own_.text())}) {
    const spank_err_t error = spank_setenv(spank_, key, text.c_str(), 1);
    if (error != ESPANK_SUCCESS) slurm_error("flor: %s cannot be set: %s", key, spank_strerror(error));
  }
}

void TaskEnvironment::unset(const char* name) {
  spank_unsetenv(spank_, name);
}

bool TaskEnvironment::is_of_another_job() const {
  // The parts of a heterogeneous job have ids of their own.
  return !own_.job().empty() && own_.job() != job_ && own_.job() != get("SLURM_JOB_ID") &&
         get("SLURM_HET_SIZE").empty();
}

void TaskEnvironment::put_all_back() {
  for (const auto& value : own_.unchanged(reader())) put_back(value);
  unset(kOwnValues);
  unset(core::inherited_variable);
}

void TaskEnvironment::put_back(const char* name) {
  for (const auto& value : own_.unchanged(reader()))
    if (value.name == name) put_back(value);
}

void TaskEnvironment::put_back(const OwnValues::Value& value) {
  unset(value.name.c_str());
  if (!value.before.empty()) spank_setenv(spank_, value.name.c_str(), value.before.c_str(), 1);
}

Environment TaskEnvironment::reader() const {
  return [this](const char* name) { return get(name); };
}

}  // namespace flor::spank
