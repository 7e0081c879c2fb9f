#include "core/session/preemption.h"

#include <algorithm>
#include <cctype>
#include <exception>
#include <string>

#include "core/config/settings.h"
#include "core/store/slurm_job.h"

namespace flor::core {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

bool requeue_if_preempted() noexcept {
  try {
    const std::string job = environment_variable("SLURM_JOB_ID").value_or("");
    if (!is_number(job)) return false;
    // squeue prints a time, or a word where the job is not being preempted.
    const std::string preempted =
        ask_slurm("squeue --noheader --jobs " + job + " --Format PreemptTime:.").value_or("");
    const auto first = preempted.find_first_not_of(" \n");
    if (first == std::string::npos || std::isdigit(static_cast<unsigned char>(preempted[first])) == 0)
      return false;
    return ask_slurm("scontrol requeue " + job).has_value();
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace flor::core
