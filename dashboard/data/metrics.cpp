#include "dashboard/data/metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "core/base/clock.h"
#include "core/base/printable.h"
#include "core/files/existence.h"
#include "core/store/plan.h"
#include "results/report/summary.h"

namespace flor::dashboard {
namespace {

using core::field;
using core::Json;

// Seconds that one scrape reads replays. A monitoring system waits as long by default.
constexpr double most_seconds = 10;

using Labels = std::vector<std::pair<const char*, std::string>>;

std::string label_value(const std::string& text) {
  std::string out;
  for (const char letter : core::printable(text)) {
    if (letter == '\\' || letter == '"') out += '\\';
    out += letter;
  }
  return out;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 40> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

// The samples of a name stand together, behind what describes it. Every one is a gauge: what a store holds
// can become less.
class Exposition {
 public:
  void describe(const std::string& name, const std::string& help) {
    name_ = name;
    text_ += "# HELP " + name + " " + help + "\n# TYPE " + name + " gauge\n";
  }

  void sample(const Labels& labels, double value) {
    text_ += name_;
    for (std::size_t i = 0; i < labels.size(); ++i)
      text_ += (i == 0 ? "{" : ",") + (labels[i].first + ("=\"" + label_value(labels[i].second) + '"'));
    text_ += (labels.empty() ? " " : "} ") + number(value) + "\n";
  }

  std::string take() { return std::move(text_); }

 private:
  std::string name_, text_;
};

struct OfRecording {
  const char* name;
  const char* help;
  // A field of a line of the list of runs.
  const char* key;
};
constexpr std::array<OfRecording, 7> of_recordings{{
    {"flor_recording_iterations", "Iterations of the main loop so far.", "done"},
    {"flor_recording_iterations_expected", "Iterations of the main loop in all; -1: not known.", "of"},
    {"flor_recording_computed_seconds", "Time that the main loop took, without checkpoints.", "seconds"},
    {"flor_recording_overhead_ratio", "What checkpoints cost, as a share of the time computed.", "overhead"},
    {"flor_recording_overhead_limit_ratio", "The limit of the overhead, epsilon.", "epsilon"},
    {"flor_recording_checkpoints", "Checkpoints in the store.", "checkpoints"},
    {"flor_recording_checkpoint_bytes", "Bytes of the checkpoints in the store.", "bytes"},
}};

void add_runs(Exposition& out, const Json& runs) {
  std::map<std::string, double> by_status;
  double checkpoints = 0, bytes = 0;
  // These stand there with 0, so that an alarm on them has something to look at.
  for (const char* status :
       {"recording", "completed", "failed", "killed", "damaged", "unknown", "unreadable"})
    by_status[status] = 0;
  for (const auto& run : runs) {
    by_status[field<std::string>(run, "status", "unreadable")] += 1;
    checkpoints += field(run, "checkpoints", 0.0);
    bytes += field(run, "bytes", 0.0);
  }
  out.describe("flor_runs", "Runs in the store, by their status.");
  for (const auto& [status, count] : by_status) out.sample({{"status", status}}, count);
  out.describe("flor_checkpoints", "Checkpoints of all runs.");
  out.sample({}, checkpoints);
  out.describe("flor_checkpoint_bytes", "Bytes of the checkpoints of all runs.");
  out.sample({}, bytes);
}

void add_recordings(Exposition& out, const Json& runs) {
  for (const auto& gauge : of_recordings) {
    out.describe(gauge.name, gauge.help);
    for (const auto& run : runs) {
      if (field<std::string>(run, "status", "") != "recording") continue;
      if (!run.contains(gauge.key) || !run[gauge.key].is_number()) continue;
      out.sample({{"run", field<std::string>(run, "id", "")},
                  {"name", field<std::string>(run, "name", "")},
                  {"user", field<std::string>(run, "user", "")},
                  {"job", field<std::string>(run, "job", "")}},
                 run[gauge.key].get<double>());
    }
  }
}

struct OfReplay {
  const char* name;
  const char* help;
  double (*value)(const ReplayUnderWay& replay);
};
constexpr std::array<OfReplay, 6> of_replays{{
    {"flor_replay_units", "Units that the question needs.",
     [](const ReplayUnderWay& replay) { return static_cast<double>(replay.units); }},
    {"flor_replay_units_committed", "Units that are committed.",
     [](const ReplayUnderWay& replay) { return static_cast<double>(replay.committed); }},
    {"flor_replay_units_running", "Units that workers execute now.",
     [](const ReplayUnderWay& replay) { return static_cast<double>(replay.running); }},
    {"flor_replay_units_waiting", "Units that wait for a worker: the depth of the queue.",
     [](const ReplayUnderWay& replay) {
       return static_cast<double>(std::max<int64_t>(0, replay.units - replay.committed - replay.running));
     }},
    {"flor_replay_executions_interrupted", "Executions of units that a worker began and did not end.",
     [](const ReplayUnderWay& replay) { return static_cast<double>(replay.interrupted); }},
    {"flor_replay_workers", "Workers that have executed units.",
     [](const ReplayUnderWay& replay) { return static_cast<double>(replay.workers); }},
}};

void add_replays(Exposition& out, const std::vector<ReplayUnderWay>& replays) {
  const auto labels = [](const ReplayUnderWay& replay) {
    return Labels{{"run", replay.run}, {"replay", replay.replay}};
  };
  for (const auto& gauge : of_replays) {
    out.describe(gauge.name, gauge.help);
    for (const auto& replay : replays) out.sample(labels(replay), gauge.value(replay));
  }
  out.describe("flor_replay_worker_seconds",
               "Time of all workers: new work, work done again, and waiting. Restores are in the first two.");
  for (const auto& replay : replays) {
    const auto& totals = replay.totals;
    for (const auto& [kind, seconds] :
         {std::pair("worked", totals.worked), std::pair("redone", totals.redone),
          std::pair("idle", totals.idle())}) {
      auto with_kind = labels(replay);
      with_kind.emplace_back("kind", kind);
      out.sample(with_kind, seconds);
    }
  }
  out.describe("flor_replay_restore_seconds", "Time of all workers that restoring checkpoints took.");
  for (const auto& replay : replays) out.sample(labels(replay), replay.totals.restored);
}

ReplayUnderWay read_replay(const core::RunDir& run, const core::ReplayDir& dir) {
  const core::Plan plan = core::read_plan(dir);
  const auto summary = results::summarize_replay(dir, plan.attempt, plan);
  const auto work = results::read_work(dir);
  ReplayUnderWay out;
  out.run = run.id();
  out.replay = dir.id();
  out.units = summary.selected;
  out.committed = summary.committed;
  out.workers = work.size();
  for (const auto& worker : work) {
    for (const auto& unit : worker.units) {
      if (unit.seconds) continue;
      (unit.given_up ? out.interrupted : out.running) += 1;
    }
  }
  out.totals = results::totals_of(work, plan, core::wall_seconds());
  return out;
}

bool is_under_way(const core::ReplayDir& replay) {
  const auto is_there = [](const core::fs::path& path) { return core::existence_of(path).value_or(false); };
  return is_there(replay.plan()) && !is_there(replay.verdict()) && !is_there(replay.failure()) &&
         results::goes_on(replay);
}

void add_if_under_way(const core::RunDir& run, const core::ReplayDir& replay,
                      std::vector<ReplayUnderWay>& out) {
  try {
    if (is_under_way(replay)) out.push_back(read_replay(run, replay));
  } catch (const std::exception&) {
    // Its page says what is wrong with it.
  }
}

}  // namespace

std::string metrics_text(const Json& snapshot, const std::vector<ReplayUnderWay>& replays) {
  const Json runs = field<Json>(snapshot, "runs", Json::array());
  Exposition out;
  add_runs(out, runs);
  add_recordings(out, runs);
  add_replays(out, replays);
  return out.take();
}

std::string Metrics::text(const std::string& snapshot) const {
  const std::unique_lock<std::mutex> reading(reading_, std::try_to_lock);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!reading.owns_lock() && !last_.empty()) return last_;
  }
  const Json parsed = core::parse_json(snapshot);
  if (!reading.owns_lock()) return metrics_text(parsed, {});
  std::string text = metrics_text(parsed, replays_of(parsed));
  const std::lock_guard<std::mutex> lock(mutex_);
  return last_ = text;
}

std::vector<ReplayUnderWay> Metrics::replays_of(const Json& snapshot) const {
  const double end = core::monotonic_seconds() + most_seconds;
  std::vector<ReplayUnderWay> out;
  for (const auto& line : field<Json>(snapshot, "runs", Json::array())) {
    if (field<int64_t>(line, "replays", 0) == 0) continue;
    const core::RunDir run = store_.run(field<std::string>(line, "id", ""));
    try {
      for (const auto& replay : run.all_replays()) {
        if (core::monotonic_seconds() > end) return out;
        add_if_under_way(run, replay, out);
      }
    } catch (const std::exception&) {
      // Its page says what is wrong with it.
    }
  }
  return out;
}

}  // namespace flor::dashboard
