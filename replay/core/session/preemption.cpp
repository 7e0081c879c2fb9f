#include "core/session/preemption.h"

#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <exception>
#include <string>

#include "core/config/settings.h"

namespace flor::core {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

struct Outcome {
  std::string output;
  bool success = false;
};

Outcome run(const std::string& command) {
  FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "re");
  if (pipe == nullptr) return {};
  Outcome out;
  char buffer[256];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) out.output += buffer;
  const int status = ::pclose(pipe);
  out.success = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return out;
}

}  // namespace

bool requeue_if_preempted() noexcept {
  try {
    const std::string job = environment_variable("SLURM_JOB_ID").value_or("");
    if (!is_number(job)) return false;
    // squeue prints a time, or a word where the job is not being preempted.
    const Outcome preempted = run("squeue --noheader --jobs " + job + " --Format PreemptTime:.");
    const auto first = preempted.output.find_first_not_of(" \n");
    if (first == std::string::npos || std::isdigit(static_cast<unsigned char>(preempted.output[first])) == 0)
      return false;
    return run("scontrol requeue " + job).success;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace flor::core
