#include "dispatch/slurm_jobs.h"

#include <algorithm>
#include <sstream>
#include <thread>

#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/files/existence.h"
#include "core/files/json_lines.h"
#include "dispatch/process.h"

namespace flor::dispatch {
namespace {

// If the controller hangs or is away, Slurm's tools try for minutes.
constexpr auto kAnswersWithin = std::chrono::seconds(10);
constexpr auto kGoneWithin = std::chrono::seconds(10);

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// Refuses "all", which Slurm's tools read as every cluster.
bool is_cluster(const std::string& text) {
  return !text.empty() && text.front() != '-' && text != "all" &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
             std::string::npos;
}

// Returns the command line of a Slurm tool for one cluster.
std::vector<std::string> tool(std::vector<std::string> words, const std::string& cluster) {
  if (!cluster.empty()) words.push_back("--clusters=" + cluster);
  return words;
}

bool has_number(const std::vector<ArrayJob>& jobs, const std::string& number) {
  return std::any_of(jobs.begin(), jobs.end(), [&](const ArrayJob& job) { return job.number == number; });
}

void send_cancel_of(const std::string& cluster, const std::vector<std::string>& numbers) {
  auto command = tool({"scancel"}, cluster);
  command.insert(command.end(), numbers.begin(), numbers.end());
  run(command, kAnswersWithin);
}

// Is it a reason that does not pass? A prolog that failed leaves its job held (slurm.conf(5), `Prolog`). What
// a person holds, that person may release.
bool never_starts(std::string reason) {
  std::replace(reason.begin(), reason.end(), ' ', '_');
  static const std::set<std::string> reasons{"launch_failed_requeued_held",
                                             "PartitionTimeLimit",
                                             "PartitionNodeLimit",
                                             "DependencyNeverSatisfied",
                                             "BadConstraints",
                                             "InvalidAccount",
                                             "InvalidQOS"};
  return reasons.count(reason) != 0;
}

// Removes SQUEUE_STATES and similar settings of the user, which would hide workers.
Environment without_squeue_settings() {
  Environment out = present_environment();
  const auto begin = out.lower_bound("SQUEUE_");
  out.erase(begin, out.lower_bound("SQUEUE`"));  // '`' follows '_'
  return out;
}

}  // namespace

std::optional<ArrayJob> parse_job(const std::string& text) {
  const auto semicolon = text.find(';');
  ArrayJob job{text.substr(0, semicolon), ""};
  if (!is_number(job.number)) return std::nullopt;
  if (semicolon == std::string::npos) return job;
  job.cluster = text.substr(semicolon + 1);
  return is_cluster(job.cluster) ? std::optional(job) : std::nullopt;
}

std::vector<ArrayTask> parse_tasks(const std::string& text, const fs::path& script) {
  std::vector<ArrayTask> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto number = line.find(' ');
    const auto state = number == std::string::npos ? number : line.find(' ', number + 1);
    if (state == std::string::npos || !is_number(line.substr(0, number))) continue;
    // A reason may have blanks.
    const std::string end = "|" + script.string();
    const std::string rest = line.substr(state + 1);
    if (rest.size() < end.size() || rest.compare(rest.size() - end.size(), end.size(), end) != 0) continue;
    const std::string reason = rest.substr(0, rest.size() - end.size());
    out.push_back({line.substr(0, number), line.substr(number + 1, state - number - 1),
                   reason == "None" || reason == "(null)" ? "" : reason});
  }
  return out;
}

Liveness count(const std::vector<ArrayTask>& tasks) {
  static const std::set<std::string> waiting{"PENDING",      "CONFIGURING",  "REQUEUED",   "SUSPENDED",
                                             "REQUEUE_HOLD", "SPECIAL_EXIT", "REQUEUE_FED"};
  Liveness out;
  for (const auto& task : tasks) {
    if (task.state == "COMPLETING") {
      out.ending += 1;
    } else if (waiting.count(task.state) == 0) {
      out.running += 1;
    } else if (never_starts(task.reason)) {
      out.stuck += 1;
      out.reason = task.reason;
    } else {
      out.waiting += 1;
      if (out.stuck == 0 && !task.reason.empty()) out.reason = task.reason;
    }
  }
  return out;
}

SlurmJobs::SlurmJobs(fs::path file, fs::path script) : file_(std::move(file)), script_(std::move(script)) {}

void SlurmJobs::add(const ArrayJob& job) {
  jobs_.push_back(job);
  living_.push_back(job);
  try {
    core::LineAppender(file_).append(job.number + (job.cluster.empty() ? "" : ";" + job.cluster) + "\n");
  } catch (const std::exception&) {
    // The caller may remove the replay, whose workers would then wait in Slurm's queue for nothing.
    send_cancel_of(job.cluster, {job.number});
    throw;
  }
}

// Returns our tasks among these jobs ("42,43"; empty: all jobs of the user); nullopt if Slurm does not
// answer. squeue also fails for jobs that the controller has forgotten, with "Invalid job id"; then there are
// no tasks.
std::optional<std::vector<ArrayTask>> SlurmJobs::tasks_of(const std::string& cluster,
                                                          const std::string& numbers) {
  auto command = tool({"squeue", "--all", "--noheader", "--array", "--me", "--format=%F %T %r|%o"}, cluster);
  if (!numbers.empty()) command.push_back("--jobs=" + numbers);
  const Result result = run(command, without_squeue_settings(), kAnswersWithin);
  if (result.code == 0 || result.err.find("Invalid job id") != std::string::npos)
    return parse_tasks(result.out, script_);
  const std::string why =
      result.code == kTimedOut ? "squeue hangs" : result.err.substr(0, result.err.find('\n'));
  trouble_ = why.empty() ? "squeue says nothing" : why;
  return std::nullopt;
}

void SlurmJobs::find(std::set<std::string> clusters) {
  std::set<std::string> known;
  std::istringstream file(core::is_there(file_) ? core::read_file(file_) : "");
  for (std::string line; std::getline(file, line);) {
    if (const auto job = parse_job(line)) known.insert(job->cluster);
  }
  clusters.insert(known.begin(), known.end());
  clusters.insert("");
  for (const auto& cluster : clusters) {
    if (!cluster.empty() && !is_cluster(cluster)) continue;
    const auto tasks = tasks_of(cluster, "");
    if (!tasks && known.count(cluster) != 0)
      throw core::Error("whether the workers of before still run, Slurm does not say: " + trouble_);
    if (!tasks) continue;
    // The default cluster may be asked twice, once by its name. The same number with the same script is the
    // same job.
    for (const auto& task : *tasks) {
      if (!has_number(jobs_, task.job)) jobs_.push_back({task.job, cluster});
    }
  }
  living_ = jobs_;
}

void SlurmJobs::clear() {
  jobs_.clear();
  living_.clear();
}

std::set<std::string> SlurmJobs::clusters() const {
  std::set<std::string> out;
  for (const auto& job : living_) out.insert(job.cluster);
  return out;
}

std::string SlurmJobs::numbers_on(const std::string& cluster) const {
  std::string out;
  for (const auto& job : living_) {
    if (job.cluster == cluster) out += (out.empty() ? "" : ",") + job.number;
  }
  return out;
}

std::optional<Liveness> SlurmJobs::ask() {
  Liveness sum;
  std::vector<ArrayJob> living;
  for (const auto& cluster : clusters()) {
    const auto tasks = tasks_of(cluster, numbers_on(cluster));
    if (!tasks) return std::nullopt;
    const Liveness here = count(*tasks);
    sum.running += here.running;
    sum.waiting += here.waiting;
    sum.ending += here.ending;
    sum.stuck += here.stuck;
    if (!here.reason.empty()) sum.reason = here.reason;
    for (const auto& task : *tasks) {
      const bool is_known = std::any_of(living.begin(), living.end(), [&](const ArrayJob& job) {
        return job.number == task.job && job.cluster == cluster;
      });
      if (!is_known) living.push_back({task.job, cluster});
    }
  }
  trouble_.clear();
  living_ = std::move(living);
  return sum;
}

void SlurmJobs::send_cancel() const {
  std::set<std::string> asked;
  for (const auto& first : living_) {
    if (!asked.insert(first.cluster).second) continue;
    std::vector<std::string> numbers;
    for (const auto& job : living_) {
      if (job.cluster == first.cluster) numbers.push_back(job.number);
    }
    send_cancel_of(first.cluster, numbers);
  }
}

void SlurmJobs::cancel() {
  const auto deadline = std::chrono::steady_clock::now() + kGoneWithin;
  bool sent = false;
  while (!living_.empty()) {
    const auto now = ask();
    if (now && sent && !now->any() && now->stuck == 0) return;
    if (now && !sent) send_cancel();
    sent = sent || now.has_value();
    if (std::chrono::steady_clock::now() >= deadline) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(sent ? 100 : 500));
  }
}

std::string SlurmJobs::describe() const {
  std::string out;
  for (const auto& job : jobs_) out += (out.empty() ? "" : ", ") + job.number;
  return out;
}

std::string SlurmJobs::record_of_task(const std::string& index) const {
  for (auto job = jobs_.rbegin(); job != jobs_.rend(); ++job) {
    auto command = tool({"scontrol", "--oneliner"}, job->cluster);
    command.insert(command.end(), {"show", "job", job->number + "_" + index});
    const Result result = run(command, kAnswersWithin);
    if (result.code == 0) return result.out;
  }
  return "";
}

}  // namespace flor::dispatch
