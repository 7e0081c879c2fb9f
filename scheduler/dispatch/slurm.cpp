#include "dispatch/slurm.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "core/base/error.h"
#include "core/base/shell_words.h"
#include "core/config/settings.h"
#include "core/files/durable.h"
#include "core/store/slurm_job.h"
#include "dispatch/job_environment.h"
#include "dispatch/process.h"

namespace flor::dispatch {
namespace {

constexpr auto kAskEvery = std::chrono::seconds(3);
// If the controller hangs or is away, Slurm's tools try for minutes.
constexpr auto kAnswersWithin = std::chrono::seconds(10);
constexpr auto kClearsWithin = std::chrono::seconds(60);
constexpr auto kFirstAsk =
    std::chrono::seconds(1);  // after sbatch: on a free cluster the tasks start at once

std::string first_line(const std::string& text) {
  const auto begin = text.find_first_not_of("\r\n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const auto& word : words) {
    if (!out.empty()) out += between;
    out += word;
  }
  return out;
}

// Returns the clusters that the user named for sbatch, besides its default one.
std::set<std::string> clusters_of(const SbatchFlags& flags) {
  std::string names = core::environment_variable("SBATCH_CLUSTERS").value_or("");
  for (const auto& option : flags.others) {
    if (option.rfind("--clusters=", 0) == 0) names += "," + option.substr(11);
    if (option.rfind("-M", 0) == 0) names += "," + option.substr(2);
  }
  std::set<std::string> out;
  std::istringstream words(names);
  for (std::string name; std::getline(words, name, ',');) out.insert(name);
  return out;
}

// Escapes % as %%, because sbatch expands it in the names of output files (sbatch(1), "filename pattern").
std::string without_patterns(const std::string& path) {
  std::string out;
  for (const char c : path) out += c == '%' ? "%%" : std::string(1, c);
  return out;
}

}  // namespace

bool slurm_answers() {
  if (!has_program("sbatch") || !has_program("scontrol")) return false;
  const Result ping = run({"scontrol", "ping"}, kAnswersWithin);
  return ping.code == 0 && ping.out.find("UP") != std::string::npos;
}

std::size_t cpus_of(const SbatchFlags& flags, const WorkerOrder& order) {
  const std::string& text = flags.cpus_per_task.empty() ? order.threads : flags.cpus_per_task;
  return static_cast<std::size_t>(std::max(std::strtol(text.c_str(), nullptr, 10), 1L));
}

std::string job_script(const WorkerOrder& order, std::size_t cpus) {
  std::vector<std::string> words;
  for (const auto& word : order.command) words.push_back(core::shell_quoted(word));
  const std::string step = "--ntasks=1 --cpus-per-task=" + std::to_string(cpus) + " ";
  return "#!/bin/sh\n# The workers of replay " + order.replay.id() +
         ", written by `flor replay`: each array task runs units until none is left.\n" +
         "flor_path=$PATH; " + core::absolute_path +
         R"(flor_srun=$(command -v srun) || { echo "flor: there is no srun in an absolute part of PATH" >&2; exit 1; }
# When its time limit ends the task (seconds of the epoch), so that it takes no unit that it cannot finish.
FLOR_JOB_END=${SLURM_JOB_END_TIME:-$(SLURM_TIME_FORMAT=%s timeout 5 squeue --noheader --jobs="${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" --format=%e)}
export FLOR_JOB_END
# A slurmctld that was restarted just now turns steps away as busy, and srun would ask again only after SlurmctldTimeout
# (two minutes). So a step that does nothing asks first, every few seconds.
for flor_pause in 2 2 3 3 5; do
  "$flor_srun" --immediate=1 --overlap )" +
         step + R"(true && break
  sleep "$flor_pause"
done
PATH=$flor_path
exec "$flor_srun" )" +
         step + joined(words, " ") + "\n";
}

std::vector<std::string> sbatch_command(const WorkerOrder& order, const SbatchFlags& flags,
                                        std::size_t workers, const std::string& gres, std::size_t cpus) {
  const std::string out = without_patterns(order.replay.workers().string()) + "/slurm-%a.out";
  std::vector<std::string> command{"sbatch",
                                   "--parsable",
                                   "--job-name=flor-replay",
                                   "--array=0-" + std::to_string(std::max<std::size_t>(workers, 1) - 1),
                                   "--ntasks=1",
                                   "--cpus-per-task=" + std::to_string(cpus),
                                   "--export=ALL",
                                   "--open-mode=append",
                                   "--output=" + out,
                                   "--chdir=" + order.cwd.string()};
  auto pass = [&](const char* option, const std::string& value) {
    if (!value.empty()) command.push_back(option + value);
  };
  pass("--gres=", gres);
  pass("--partition=", flags.partition);
  pass("--qos=", flags.qos);
  pass("--time=", flags.time);
  pass("--account=", flags.account);
  pass("--constraint=", flags.constraint);
  pass("--mem=", flags.mem);
  command.insert(command.end(), flags.others.begin(), flags.others.end());
  command.push_back((order.replay.workers() / "job.sh").string());
  return command;
}

bool is_too_many(const std::string& error) {
  // Matches ESLURM_INVALID_ARRAY, ESLURM_ACCOUNTING_POLICY and similar errors, and likely texts of a site's
  // job_submit plugin.
  const std::string line = first_line(error);
  return line.find("array") != std::string::npos || line.find("limit") != std::string::npos ||
         line.find("policy") != std::string::npos;
}

std::size_t parse_max_array_size(const std::string& config) {
  std::istringstream lines(config);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::string equals;
    std::size_t size = 0;
    if (words >> name >> equals >> size && name == "MaxArraySize") return size;
  }
  return 0;
}

std::string parse_end(const std::string& text) {
  std::map<std::string, std::string> fields;
  std::istringstream words(first_line(text));
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals != std::string::npos) fields.emplace(word.substr(0, equals), word.substr(equals + 1));
  }
  const std::string& state = fields["JobState"];
  if (state.empty() || state == "PENDING" || state == "RUNNING" || state == "COMPLETED") return "";
  const std::string& reason = fields["Reason"];
  std::string out = state;
  if (!reason.empty() && reason != "None") out += " (" + reason + ")";
  const std::string& code = fields["ExitCode"];  // "status:signal"
  const auto colon = code.find(':');
  if (colon == std::string::npos) return out;
  if (const std::string signal = code.substr(colon + 1); signal != "0") return out + ", signal " + signal;
  if (const std::string status = code.substr(0, colon); status != "0") out += ", exit code " + status;
  return out;
}

SlurmLauncher::SlurmLauncher(WorkerOrder order, SbatchFlags flags, std::unique_ptr<Cluster> cluster)
    : order_(std::move(order)),
      flags_(std::move(flags)),
      cluster_(std::move(cluster)),
      jobs_(order_.replay.workers() / "jobs", order_.replay.workers() / "job.sh") {
  // sbatch would take the partition from there. It is needed here to ask for free nodes.
  if (flags_.partition.empty())
    flags_.partition = core::environment_variable("SBATCH_PARTITION").value_or("");
}

std::string SlurmLauncher::gres() {
  if (!flags_.gres.empty()) return flags_.gres;
  if (!nodes_) nodes_ = cluster_->nodes(flags_.partition);
  return gres_for(*nodes_, order_.gpu);
}

std::size_t SlurmLauncher::free_places() {
  return std::max<std::size_t>(room(), 1);  // a worker can wait in Slurm's queue
}

std::size_t SlurmLauncher::room() {
  nodes_ = cluster_->nodes(flags_.partition);
  return dispatch::free_places(*nodes_, gres().rfind("gpu", 0) == 0, cpus_of(flags_, order_));
}

Result SlurmLauncher::submit(std::size_t workers) {
  const auto command = sbatch_command(order_, flags_, workers, gres(), cpus_of(flags_, order_));
  return run(command, outside_job(worker_environment(order_), !flags_.mem.empty()));
}

// Returns how many workers to try after Slurm refused this many: MaxArraySize if that was the limit, else
// half. Other limits (of a QOS or an association) can only be found by trying.
std::size_t SlurmLauncher::fewer_than(std::size_t workers, const std::string& why) {
  const std::size_t most = parse_max_array_size(run({"scontrol", "show", "config"}, kAnswersWithin).out);
  const bool by_array = most > 0 && most < workers;
  most_ = by_array ? most : workers / 2;
  if (limit_.empty()) {
    limit_ = std::to_string(workers) + " are more than Slurm" +
             (by_array ? "'s MaxArraySize, " + std::to_string(most) : " takes: " + why);
  }
  return most_;
}

void SlurmLauncher::start(std::size_t workers) {
  core::create_directories_durably(order_.replay.workers());
  core::write_durably(order_.replay.workers() / "job.sh", job_script(order_, cpus_of(flags_, order_)));
  if (jobs_.empty()) since_ = fs::last_write_time(order_.replay.workers() / "job.sh");
  if (most_ > 0) workers = std::min(workers, most_);
  Result result = submit(workers);
  while (result.code != 0 && workers > 1 && is_too_many(result.err)) {
    workers = fewer_than(workers, first_line(result.err));
    result = submit(workers);
  }
  const auto job = parse_job(first_line(result.out));
  if (result.code != 0 || !job) {
    const std::string why = first_line(result.err.empty() ? result.out : result.err);
    throw core::Error("Slurm takes no job: " + (why.empty() ? "sbatch says nothing" : why));
  }
  jobs_.add(*job);
  started_ += workers;
  last_.waiting += workers;
  asked_ = std::chrono::steady_clock::now() - kAskEvery + kFirstAsk;
}

std::size_t SlurmLauncher::adopt() {
  jobs_.find(clusters_of(flags_));
  if (jobs_.empty()) return 0;
  auto now = jobs_.ask();
  // Those that were requeued come back once Slurm has cleared up behind them.
  const auto cleared = std::chrono::steady_clock::now() + kClearsWithin;
  while (now && !now->any() && now->ending > 0 && std::chrono::steady_clock::now() < cleared) {
    std::this_thread::sleep_for(kFirstAsk);
    now = jobs_.ask();
  }
  if (!now)
    throw core::Error("whether the workers of before still run, Slurm does not say: " + jobs_.trouble());
  if (!now->any()) {
    jobs_.cancel();
    jobs_.clear();
    return 0;
  }
  since_ = fs::last_write_time(order_.replay.workers() / "job.sh");
  started_ = now->running + now->waiting;
  last_ = *now;
  asked_ = std::chrono::steady_clock::now();
  return started_;
}

Liveness SlurmLauncher::liveness() {
  const bool recently = std::chrono::steady_clock::now() - asked_ < kAskEvery;
  return recently ? last_ : liveness_now();
}

Liveness SlurmLauncher::liveness_now() {
  if (const auto answer = jobs_.ask()) last_ = *answer;
  asked_ = std::chrono::steady_clock::now();
  return last_;
}

std::string SlurmLauncher::describe() const {
  return "job " + jobs_.describe() + ", " + std::to_string(started_) + (started_ == 1 ? " task" : " tasks") +
         (limit_.empty() ? "" : " (" + limit_ + ")");
}

// Returns the output files of the tasks that have started since this launcher's first job, the last written
// first.
std::vector<fs::path> SlurmLauncher::outputs() const {
  std::multimap<fs::file_time_type, fs::path, std::greater<>> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(order_.replay.workers(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("slurm-", 0) != 0 || entry.path().extension() != ".out") continue;
    const auto written = entry.last_write_time(ignored);
    if (!ignored && written >= since_) found.emplace(written, entry.path());
  }
  std::vector<fs::path> out;
  for (auto& [time, path] : found) out.push_back(std::move(path));
  return out;
}

bool SlurmLauncher::any_began() {
  return !outputs().empty();
}

std::string SlurmLauncher::failure_tail() {
  for (const auto& output : outputs()) {
    const std::string tail = tail_of(output, 10);
    if (tail.empty()) continue;
    // Slurm remembers an ended task for some minutes (MinJobAge).
    const std::string end =
        parse_end(jobs_.record_of_task(output.stem().string().substr(std::string("slurm-").size())));
    return output.string() + (end.empty() ? "" : " (Slurm: " + end + ")") + ":\n" + tail;
  }
  return "";
}

void SlurmLauncher::cancel() {
  jobs_.cancel();
  last_ = jobs_.ask().value_or(last_);
}

}  // namespace flor::dispatch
