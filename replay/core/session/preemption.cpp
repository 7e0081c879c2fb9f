#include "core/session/preemption.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "core/base/backoff.h"
#include "core/base/clock.h"
#include "core/base/parse_number.h"
#include "core/base/shell_words.h"
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

bool cancels_preempted(const std::string& partition, const std::string& config) {
  const auto has = [](const std::string& text, const std::string& key, const std::string& value) {
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      if (word == key && words >> word && word == "=" && words >> word && word == value) return true;
      if (word == key + "=" + value) return true;
    }
    return false;
  };
  return has(partition, "PreemptMode", "CANCEL") && !has(config, "PreemptType", "preempt/qos");
}

std::optional<SlurmJob> find_job(const std::string& printed, const std::string& id) {
  std::optional<SlurmJob> out;
  std::string components;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string task;
    std::string job;
    std::string array;
    std::string preempted;
    if (!(words >> task >> job >> array >> preempted)) continue;
    if (!is_number(task)) components += preempted + "\n";
    if (job != id || !is_number(job)) continue;
    const bool is_task = is_number(task) && is_number(array);
    // Without this, a range such as "3-9": tasks that wait. They are not this process's job.
    if (!is_task && task != "N/A") return std::nullopt;
    out = SlurmJob{id, is_task ? array + "_" + task : id, is_task ? preempted : ""};
  }
  // A heterogeneous job has a line for each component, and is no array.
  if (out && out->name == id) out->preempted = components;
  return out;
}

std::optional<std::set<int64_t>> other_steps(const std::string& printed, const SlurmJob& job,
                                             const std::string& own) {
  static const std::string key = "StepId=";
  std::set<int64_t> out;
  bool is_answer = false;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    is_answer = is_answer || line.rfind("Job step " + job.id + ".", 0) == 0;  // "… not found"
    if (line.rfind(key, 0) != 0) continue;
    is_answer = true;
    // "7.0", "7_3.0", "7.batch"; of a heterogeneous step "7.0+1".
    const std::string id = line.substr(key.size(), line.find(' ') - key.size());
    const auto dot = id.find('.');
    if (dot == std::string::npos || (id.substr(0, dot) != job.id && id.substr(0, dot) != job.name)) continue;
    const std::string step = id.substr(dot + 1, id.find('+', dot) - dot - 1);
    const auto number = parse_number<int64_t>(step);
    if (number && step != own) out.insert(*number);
  }
  return is_answer ? std::optional(std::move(out)) : std::nullopt;
}

namespace {

void wait_seconds(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// `squeue --steps` has slurmctld send the steps of all jobs, under its lock, and takes the job's from them.
// scontrol names the job to slurmctld. It fails where there are no steps, too, and then says so in its
// output.
std::string steps_of(const SlurmJob& job) {
  return ask_slurm("scontrol --all --local --oneliner show step " + job.id + " 2>/dev/null || true")
      .value_or("");
}

// Returns whether the job's partition has preempted jobs cancelled. A partition that cannot be asked about
// has them requeued.
bool is_to_end(const std::string& id) {
  const auto name = ask_slurm("squeue --noheader --jobs " + id + " --format %P");
  std::istringstream words(name.value_or(""));
  std::string partition;
  if (!(words >> partition)) return false;
  const auto shown = ask_slurm("scontrol --oneliner show partition " + shell_line({partition}));
  if (!shown || !cancels_preempted(*shown, "")) return false;
  return cancels_preempted(*shown, ask_slurm("scontrol show config").value_or(""));
}

// Returns whether this step is to requeue the job: the others are gone. Of two steps that wait for each
// other, the later one leaves first. `begun`: from when on the wait counts.
bool outlives_other_steps(const SlurmJob& job, double begun) {
  const std::string own = environment_variable("SLURM_STEP_ID").value_or("");
  Backoff pauses(std::chrono::seconds(1), std::chrono::seconds(8));
  while (true) {
    const auto others = other_steps(steps_of(job), job, own);
    if (others && others->empty()) return true;
    const bool is_first = !others || *others->begin() > parse_number<int64_t>(own).value_or(0);
    const double left = begun + (is_first ? 20 : 10) - monotonic_seconds();
    if (left <= 0) return false;
    wait_seconds(std::min(left, std::chrono::duration<double>(pauses.next()).count()));
  }
}

}  // namespace

bool requeue_if_preempted(double came) noexcept {
  try {
    const std::string id = environment_variable("SLURM_JOB_ID").value_or("");
    if (!is_number(id)) return false;
    const double begun = monotonic_seconds();
    std::random_device random;
    wait_seconds(std::uniform_real_distribution<double>(0, 2)(random));
    // By the number: of "7_3" slurmctld sends all tasks of the array. The space behind each width is printed
    // behind its column.
    const auto printed = ask_slurm("SLURM_TIME_FORMAT=%s squeue --noheader --jobs " + id +
                                   " --Format 'ArrayTaskID:.20 ,JobID:.20 ,ArrayJobID:.20 ,PreemptTime:.20'");
    const auto job = find_job(printed.value_or(""), id);
    if (!job || !is_time_of_preemption(job->preempted, came)) return false;
    if (is_to_end(id) || !outlives_other_steps(*job, begun)) return false;
    return ask_slurm("scontrol requeue " + job->name).has_value();
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace flor::core
