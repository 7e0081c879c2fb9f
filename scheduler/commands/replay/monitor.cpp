#include "commands/replay/monitor.h"

#include <algorithm>
#include <optional>
#include <thread>

#include "commands/base/options.h"
#include "commands/replay/proving.h"
#include "commands/replay/replay_request.h"
#include "core/files/durable.h"
#include "core/store/proof.h"
#include "queue/store_down.h"
#include "results/failure.h"

namespace flor::commands {
namespace {

using core::field;
using core::Json;

// How often the loop of watch() runs.
constexpr auto kLookEvery = std::chrono::milliseconds(100);
// How often the queue is repaired and expired leases are reaped.
constexpr auto kTendEvery = std::chrono::seconds(1);
// Between two queries of the queue, right after a change and at rest.
constexpr auto kNewsSoon = std::chrono::milliseconds(100);
constexpr auto kNewsLate = std::chrono::milliseconds(1000);
// Between two looks for free slots. Each is one query to Slurm, however many units there are.
constexpr auto kGrowEvery = std::chrono::seconds(15);

// After this many rounds of workers without a new unit, no more are started: the next ones would probably
// fail for the same reason.
constexpr int kIdleRounds = 2;

// How long a program may need to reach its main loop before the user is told.
constexpr auto kBeginWithin = std::chrono::seconds(30);

// How long Slurm may take to clear up behind the last workers. A node that hangs would take for ever.
constexpr auto kClearsWithin = std::chrono::minutes(5);

// Time for a file to become visible: a worker may publish its last unit just before it ends.
constexpr auto kSettle = std::chrono::milliseconds(300);

}  // namespace

void WorkerLog::look(const queue::Status& status) {
  for (const auto& worker : status.workers) see(worker.id);
}

void WorkerLog::look(const queue::Event& event) {
  see(event.worker);
}

// Keeps only valid ids: the id becomes the name of a file, and Redis may contain anything.
void WorkerLog::see(const std::string& worker) {
  if (core::is_valid_id(worker)) seen_.insert(worker);
}

std::vector<Json> WorkerLog::rows(const std::vector<queue::DoneUnit>& done) const {
  std::map<std::string, std::vector<int64_t>> units;
  std::map<std::string, double> seconds;
  for (const auto& id : seen_) units[id];
  for (const auto& unit : done) {
    if (!core::is_valid_id(unit.worker)) continue;  // empty: found in the store
    units[unit.worker].push_back(unit.unit);
    seconds[unit.worker] += unit.seconds;
  }
  std::vector<Json> rows;
  for (auto& [id, committed] : units) {
    std::sort(committed.begin(), committed.end());
    Json row{{"worker", id}};
    const auto file = replay_.workers() / (id + ".json");
    const Json left = core::fs::exists(file) ? core::parse_json(core::read_file(file)) : Json();
    for (const char* key : {"node", "gpu", "job", "task"}) row[key] = field<std::string>(left, key, "");
    row["units"] = committed;
    row["seconds"] = seconds[id];
    rows.push_back(std::move(row));
  }
  return rows;
}

Monitor::Monitor(core::ReplayDir replay, const core::Plan& plan, dispatch::Launcher& launcher,
                 queue::Queue& queue, Display& display, const Interrupt& interrupt)
    : replay_(std::move(replay)),
      plan_(plan),
      launcher_(launcher),
      queue_(queue),
      display_(display),
      interrupt_(interrupt),
      log_(replay_),
      done_(replay_, plan),
      units_(plan.selected.size()),
      news_(kNewsSoon, kNewsLate),
      proofs_(kNewsSoon, kNewsLate) {
  for (const int64_t id : plan.selected.ids()) cost_ += plan.units[static_cast<std::size_t>(id)].work;
}

double Monitor::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
}

Snapshot Monitor::snapshot(const dispatch::Liveness& alive) const {
  Snapshot now;
  now.done = done_.size();
  now.units = units_;
  now.cost_done = done_.work() - cost_before_;
  now.cost = cost_ - cost_before_;
  now.elapsed = seconds();
  now.makespan = plan_.makespan;
  now.running = alive.running;
  now.waiting = alive.waiting;
  return now;
}

// Did a worker find that the question cannot be answered? Takes what it wrote. One such file ends the replay:
// the other workers would find the same.
bool Monitor::refused(Watched& out) const {
  const auto failure = results::read_failure(replay_);
  if (!failure) return false;
  out.why = failure->error;
  out.lacks_state = failure->lacks_state;
  return true;
}

std::size_t Monitor::missing() const {
  const auto still = std::count_if(aside_.begin(), aside_.end(),
                                   [&](const auto& unit) { return !done_.contains(unit.first); });
  return units_ - done_.size() - static_cast<std::size_t>(still);
}

// A failed unit is reported when it fails and does not stop the others: their rows are answers, too.
void Monitor::set_aside(const queue::SegmentInfo& segment) {
  std::optional<std::string> tail;  // read once for all units, because it may need a server
  for (int64_t unit = segment.cur; unit < segment.hi; ++unit) {
    if (!aside_.emplace(unit, segment.error).second) continue;
    if (!tail) tail = launcher_.failure_tail();
    display_.event(
        {{"event", "unit_failed"}, {"unit", unit}, {"tries", segment.tries}, {"error", segment.error}});
    display_.say_failure("unit " + std::to_string(unit) + " failed " + std::to_string(segment.tries) +
                         (segment.tries == 1 ? " time" : " times") + " and is set aside: " + segment.error +
                         (tail->empty() ? "" : "\nthe end of " + *tail));
  }
}

std::string Monitor::without_those_aside() const {
  std::string units;
  for (const auto& [unit, why] : aside_) units += (units.empty() ? "" : ", ") + std::to_string(unit);
  return (aside_.size() == 1 ? "unit " + units + " was" : "units " + units + " were") +
         " set aside, the last because of: " + aside_.rbegin()->second;
}

// Reports that Redis is away, once, or the store that a lost queue is built from. This is a message and no
// error: units are files, and the workers wait.
void Monitor::redis_is_down(const queue::RedisDown& problem) {
  if (down_.empty()) {
    down_ = dynamic_cast<const queue::StoreDown*>(&problem) != nullptr ? "the store" : "Redis";
    display_.say(down_ + " does not answer, the workers wait for it: " + problem.what());
  }
  asked_ = false;
}

// Rebuilds the queue if Redis lost it, and frees the segments of dead workers.
void Monitor::tend_queue() {
  tended_ = std::chrono::steady_clock::now();
  try {
    queue_.ensure(plan_);
    queue_.reap();
    if (!down_.empty()) display_.say(down_ + " answers again");
    down_.clear();
  } catch (const queue::RedisDown& problem) {
    redis_is_down(problem);
  }
}

// Reads the whole state of the queue. It grows with the replay, so it is read only if the events do not tell
// what changed.
void Monitor::ask_queue() {
  const queue::Status status = queue_.status();
  log_.look(status);
  for (const auto& segment : status.segments) {
    if (segment.state != "failed") continue;
    if (core::is_proof(plan_, segment.cur)) {
      proofs_aside_[segment.cur] = segment.error;
    } else {
      set_aside(segment);
    }
  }
  asked_ = true;
}

void Monitor::read_news() {
  const auto now = std::chrono::steady_clock::now();
  if (!down_.empty() || (asked_ && !news_.is_due(now))) return;
  try {
    const queue::News news = queue_.news();
    bool changed = false, rebuilt = news.missed;
    for (const auto& event : news.events) {
      if (!news.missed) log_.look(event);  // after a gap, events may be those of an earlier command
      if (event.kind == "commit") done_.tell(event.unit);
      if (event.kind == "fail") asked_ = false;
      rebuilt = rebuilt || event.kind == "build";
      changed = true;
    }
    // A rebuilt queue may report units that it no longer knows as done. The files decide.
    if (rebuilt) done_.list();
    if (rebuilt || !asked_) ask_queue();
    news_.polled(now, std::chrono::steady_clock::now() - now, changed);
  } catch (const queue::RedisDown& problem) {
    redis_is_down(problem);
  }
}

// All workers are gone. Reads what they reported last.
void Monitor::ask_anew() {
  asked_ = false;
  tend_queue();
  read_news();
}

void Monitor::look_at_launcher() {
  const std::string trouble = launcher_.trouble();
  if (trouble.empty() == launcher_trouble_.empty()) return;
  display_.say(trouble.empty() ? launcher_.name() + " answers again"
                               : launcher_.name() + " does not answer, the workers go on: " + trouble);
  launcher_trouble_ = trouble;
}

// Workers run and none asks for a unit: probably their nodes do not reach Redis. Reported once.
void Monitor::look_for_idlers(const dispatch::Liveness& alive) {
  const auto now = std::chrono::steady_clock::now();
  if (alive.running == 0 || !down_.empty()) idle_since_.reset();
  if (alive.running == 0 || !down_.empty() || idlers_said_ || !log_.empty() || done_.size() > done_at_begin_)
    return;
  if (!idle_since_) idle_since_ = now;
  if (now - *idle_since_ < kBeginWithin) return;
  idlers_said_ = true;
  const std::string tail = launcher_.failure_tail();
  display_.say("no worker has asked for a unit yet: " + plan_.command.front() +
               " has not come to its main loop, or its node does not reach Redis" +
               (tail.empty() ? "" : "; the end of " + tail));
}

// No worker runs. Says what Slurm says to that, once for each reason.
void Monitor::look_for_reason(const dispatch::Liveness& alive) {
  const auto now = std::chrono::steady_clock::now();
  reason_ = alive.running == 0 ? alive.reason : "";
  if (reason_.empty()) none_since_.reset();
  if (reason_.empty() || reason_ == reason_said_) return;
  if (!none_since_) none_since_ = now;
  if (now - *none_since_ < kBeginWithin) return;
  reason_said_ = reason_;
  display_.say("no worker runs: " + launcher_.describe() + "; Slurm's reason: " + reason_);
}

// A worker that was preempted or requeued waits again once Slurm has cleared up behind it. Until then that is
// not known.
bool Monitor::may_come_back(const dispatch::Liveness& alive) {
  const auto now = std::chrono::steady_clock::now();
  if (alive.any() || alive.ending == 0) ending_since_.reset();
  if (alive.ending == 0) return false;
  if (!ending_since_) ending_since_ = now;
  return now - *ending_since_ < kClearsWithin;
}

// All workers are gone and units are missing. Starts others. Returns false if that would be useless.
bool Monitor::restart(std::size_t workers, Watched& out) {
  const std::size_t missing = this->missing();
  idle_rounds_ = done_.size() == done_at_start_ ? idle_rounds_ + 1 : 0;
  // Workers that made no progress would make none the next time.
  if (done_.size() == done_at_begin_ || idle_rounds_ >= kIdleRounds) {
    const std::string tail = launcher_.failure_tail();
    out.why = "every worker has gone, and " + std::to_string(missing) + " of " + counted(units_, "unit") +
              (missing == 1 ? " is" : " are") + " missing";
    if (!reason_.empty()) {
      out.why += ": " + launcher_.describe() + "; Slurm's reason: " + reason_;
    } else if (!tail.empty()) {
      out.why += "; the end of " + tail;
    } else if (!launcher_.any_began()) {
      out.why += ": " + launcher_.describe() + ", and none of them began (was the job cancelled, or lost?)";
    } else if (done_.size() == 0) {
      out.why +=
          ": " + plan_.command.front() + " ended without reaching a flor::loop; is it built with libflor?";
    }
    return false;
  }
  display_.say("every worker has gone; starting others for the " + counted(missing, "unit") + " that " +
               (missing == 1 ? "is" : "are") + " missing");
  done_at_start_ = done_.size();
  launcher_.start(std::min(workers, missing));
  return true;
}

// All units are done. Returns whether all proofs are, or have failed for good.
bool Monitor::is_proved() {
  if (!answered_) answered_ = seconds();
  const auto now = std::chrono::steady_clock::now();
  if (!proofs_.is_due(now)) return false;
  const auto missing = proofs_missing(replay_, plan_);
  proofs_.polled(now, std::chrono::steady_clock::now() - now, false);
  const bool any =
      std::any_of(missing.begin(), missing.end(), [&](int64_t id) { return proofs_aside_.count(id) == 0; });
  const std::string units = any && !proving_said_ ? proofs_text(replay_, plan_) : "";
  if (units.empty()) return !any;
  proving_said_ = true;
  display_.event({{"event", "proving"}, {"iterations", units}, {"answers", "provisional"}});
  display_.say("all rows are there, and provisional until iterations " + units +
               " are executed as a proof (flor log " + plan_.run + " shows them)");
  return false;
}

// Workers that end without a proof are started again a few times. The answers stand without it, as unproved.
bool Monitor::restart_provers(std::size_t workers) {
  proofs_.hurry();
  ask_anew();  // the last worker may have set a proof aside
  if (is_proved() || ++proving_rounds_ > kIdleRounds) return false;
  launcher_.start(std::min(workers, proofs_missing(replay_, plan_).size()));
  return true;
}

// Starts a worker for every slot that became free, as long as each finds a unit. Starts none while workers
// wait in Slurm's queue: more would only wait after them.
void Monitor::grow(const dispatch::Liveness& alive) {
  const auto now = std::chrono::steady_clock::now();
  if (now - grown_ < kGrowEvery) return;
  grown_ = now;
  if (alive.waiting > 0 || !alive.any() || missing() <= alive.running) return;
  std::size_t more = 0;
  try {
    more = std::min(launcher_.room(), missing() - alive.running);
    if (more > 0) launcher_.start(more);
  } catch (const core::Error& problem) {
    display_.say(std::string("no further workers are started: ") + problem.what());
    return;
  }
  if (more > 0) display_.say(counted(more, "place") + " became free: " + launcher_.describe());
}

std::vector<Json> Monitor::worker_rows() {
  std::vector<queue::DoneUnit> done;
  try {
    log_.look(queue_.status());
    done = queue_.done();
  } catch (const core::Error&) {
    // The verdict does not need them.
  }
  return log_.rows(done);
}

Watched Monitor::watch(std::size_t workers, bool grow) {
  Watched out;
  begun_ = grown_ = std::chrono::steady_clock::now();
  done_.list();
  done_at_begin_ = done_at_start_ = done_.size();
  cost_before_ = done_.work();
  auto end = [&](End how) {
    out.end = how;
    out.seconds = answered_.value_or(seconds());
    out.proof_errors = proofs_aside_;
    display_.end_bar();
    if (how != End::done) launcher_.cancel();
    return out;
  };
  while (true) {
    const dispatch::Liveness alive = launcher_.liveness();
    look_at_launcher();
    read_news();
    // Files decide what is done. The queue only says when to look.
    if (!is_answered()) done_.look(asked_);
    display_.show(snapshot(alive));
    if (is_answered() && is_proved()) return end(End::done);
    if (interrupt_.happened()) return end(End::interrupted);
    if (std::chrono::steady_clock::now() - tended_ >= kTendEvery) {
      tend_queue();
      if (!is_answered() && refused(out)) return end(End::failed);
    }
    look_for_idlers(alive);
    look_for_reason(alive);
    if (!is_answered() && missing() == 0) {
      out.why = without_those_aside();
      return end(End::failed);
    }
    if (!alive.any() && !may_come_back(alive)) {
      std::this_thread::sleep_for(kSettle);
      if (!is_answered()) done_.list();
      if (is_answered()) {
        if (!restart_provers(workers)) return end(End::done);
        continue;
      }
      if (refused(out)) return end(End::failed);
      ask_anew();  // the last worker may have set a unit aside
      if (missing() > 0 && !restart(workers, out)) return end(End::failed);
    }
    if (grow) this->grow(alive);
    std::this_thread::sleep_for(kLookEvery);
  }
}

}  // namespace flor::commands
