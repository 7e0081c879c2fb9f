#include "core/session/preemption.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <sstream>
#include <string>
#include <thread>

#include "core/base/clock.h"
#include "core/base/parse_number.h"
#include "core/config/settings.h"
#include "core/store/slurm_job.h"

namespace flor::core {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Seconds between the preemption, by the controller's clock, and its SIGTERM.
constexpr double most_between = 120;

}  // namespace

bool is_time_of_preemption(const std::string& printed, double came) {
  std::istringstream lines(printed);
  for (std::string line; lines >> line;) {
    const auto time = parse_number<int64_t>(line);
    if (time && std::abs(static_cast<double>(*time) - came) <= most_between) return true;
  }
  return false;
}

std::string own_job(const std::string& job, const std::string& array, const std::string& task) {
  if (is_number(array) && is_number(task)) return array + "_" + task;
  return is_number(job) ? job : "";
}

std::set<int64_t> other_steps(const std::string& steps, const std::string& own) {
  std::set<int64_t> out;
  std::istringstream lines(steps);
  for (std::string id; lines >> id;) {
    const std::string step = id.substr(id.rfind('.') + 1);
    const auto number = parse_number<int64_t>(step);
    if (number && step != own) out.insert(*number);
  }
  return out;
}

namespace {

// Returns whether this step is to requeue the job: the others are gone. Of two steps that wait for each
// other, the later one leaves first.
bool outlives_other_steps(const std::string& job) {
  const std::string own = environment_variable("SLURM_STEP_ID").value_or("");
  const double begun = monotonic_seconds();
  while (true) {
    const auto steps = ask_slurm("squeue --noheader --steps --jobs " + job + " --format %i");
    const auto others = other_steps(steps.value_or(""), own);
    if (others.empty()) return true;
    const bool is_first = *others.begin() > parse_number<int64_t>(own).value_or(0);
    if (monotonic_seconds() - begun > (is_first ? 20 : 10)) return false;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace

bool requeue_if_preempted(double came) noexcept {
  try {
    const auto number = [](const char* name) { return environment_variable(name).value_or(""); };
    const std::string job =
        own_job(number("SLURM_JOB_ID"), number("SLURM_ARRAY_JOB_ID"), number("SLURM_ARRAY_TASK_ID"));
    if (job.empty()) return false;
    const auto preempted =
        ask_slurm("SLURM_TIME_FORMAT=%s squeue --noheader --jobs " + job + " --Format PreemptTime:.");
    if (!is_time_of_preemption(preempted.value_or(""), came)) return false;
    if (!outlives_other_steps(job)) return false;
    return ask_slurm("scontrol requeue " + job).has_value();
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace flor::core
