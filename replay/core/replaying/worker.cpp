#include "core/replaying/worker.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/messages.h"
#include "core/base/parse_number.h"
#include "core/config/inherited.h"
#include "core/config/redis_setting.h"
#include "core/config/tools.h"
#include "core/files/durable.h"
#include "core/files/json_lines.h"
#include "core/process/process.h"
#include "core/process/spawn.h"
#include "core/replaying/planned_program.h"
#include "core/replaying/repetition.h"
#include "core/replaying/unit_log.h"
#include "core/replaying/worker_lock.h"
#include "core/session/mismatch.h"
#include "core/session/preemption.h"
#include "core/store/copied_run.h"
#include "core/store/proof.h"
#include "core/store/scope.h"

namespace flor::core {
namespace {

// Stops a program that restarts for ever. Restarts are cheap and normal: a run with partial checkpoints needs
// one for each jump back.
constexpr int most_restarts = 10000;

// Runs the flor command and returns its exit code. Planning and verdicts are part of the command and not of
// libflor, which training programs link.
int run_tool(const std::vector<std::string>& arguments) {
  const std::string tool = find_tool("flor");
  if (tool.empty()) throw Error("cannot find the flor command; put its directory on PATH or in FLOR_BIN");
  std::vector<std::string> words{tool};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_program(words);
}

// Returns "CLUSTER-". Jobs of two clusters that share a store may have the same number.
std::string cluster_prefix() {
  // The plugin sets FLOR_CLUSTER; Slurm does not name the cluster in every step.
  auto cluster = environment_variable("FLOR_CLUSTER");
  if (!cluster) cluster = environment_variable("SLURM_CLUSTER_NAME");
  return cluster ? clean_name(*cluster) + "-" : "";
}

// Tasks of one array job must find the same replay without talking to each other, so its id comes from the
// job. Without Slurm: from the common parent process.
std::string job_replay_id() {
  for (const char* variable : {"SLURM_ARRAY_JOB_ID", "SLURM_JOB_ID"}) {
    if (auto job = slurm_variable(variable)) return "job-" + cluster_prefix() + *job;
  }
  return "job-" + std::to_string(::getppid());
}

// Returns what this worker noted before it restarted itself.
std::vector<std::string> earlier_notes(const fs::path& file) {
  if (!fs::exists(file)) return {};
  return field<std::vector<std::string>>(parse_json(read_file(file)), "warnings", {});
}

// Returns the seconds until Slurm ends the job at its time limit. std::nullopt: unknown, or no limit.
std::optional<int64_t> seconds_left() {
  for (const char* variable : {"FLOR_JOB_END", "SLURM_JOB_END_TIME"}) {
    const auto end = parse_number<int64_t>(environment_variable(variable).value_or(""));
    if (end) return std::max<int64_t>(0, *end - static_cast<int64_t>(::time(nullptr)));
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Worker> Worker::join(const Settings& settings) {
  const std::string asked = environment_variable("FLOR_REPLAY").value_or("");
  const auto slash = asked.find('/');
  const RunDir run = find_ones_own(Store(settings.store()), asked.substr(0, slash));
  const bool by_hand = slash == std::string::npos;
  const std::string id = by_hand ? job_replay_id() : asked.substr(slash + 1);
  const ReplayDir replay = run.replay(id);
  if (by_hand) {
    std::vector<std::string> arguments{"prepare", run.id(), "--replay", id, "--"};
    for (const auto& word : command_line()) arguments.push_back(word);
    // The plan needs the binary itself: argv[0] may be a name that PATH resolved.
    arguments[5] = fs::read_symlink("/proc/self/exe").string();
    if (run_tool(arguments) != 0) throw Error("there is no plan; flor prepare has said why");
  }
  create_directories_durably(replay.workers());
  auto lock = take_worker_lock(run, replay);
  // Rule 16: a task may have several processes (helpers, wrappers). Only the first one replays.
  if (!lock) return nullptr;
  auto worker = std::make_unique<Worker>(settings, run, replay, by_hand);
  worker->presence_ = std::move(lock);
  // Slurm announces preemption with a signal. A segment handed back now is free at once, instead of after its
  // lease.
  worker->termination_.emplace([agent = &worker->agent_] {
    const double came = wall_seconds();
    agent->release();
    requeue_if_preempted(came);
  });
  return worker;
}

Worker::Worker(const Settings& settings, RunDir run, ReplayDir replay, bool collects)
    : run_(std::move(run)),
      replay_(std::move(replay)),
      collects_(collects),
      redis_(redis_url(settings).value_or("")),
      name_(worker_name()),
      plan_(read_plan(replay_)),
      notes_(earlier_notes(replay_.workers() / (name_ + ".json"))),
      agent_(hello()),
      work_(replay_.workers() / (name_ + ".work.jsonl")) {}

AgentClient::Hello Worker::hello() const {
  AgentClient::Hello hello;
  hello.mode = "replay";
  hello.run = run_.id();
  hello.run_dir = run_.path.string();
  hello.replay = replay_.id();
  hello.worker = name_;
  hello.redis = redis_;
  hello.gpu = environment_variable("CUDA_VISIBLE_DEVICES").value_or("");
  return hello;
}

void Worker::introduce(Frontend& frontend, const Manifest& recorded) {
  frontend.apply(recorded.environment);
  environment_ = frontend.environment();
  // Another GPU, thread count or library version gives other bits. Rows that cannot equal the record would
  // only make the verdict useless.
  const std::string differences = mismatch(recorded.environment, environment_);
  refused_ = not_as_planned(plan_, recorded);
  if (refused_.empty() && !differences.empty() && !plan_.any_device) {
    refused_ = "this worker differs from the recording: " + differences +
               "; equal bits cannot be expected (--any-device replays all the same, unproved)";
  }
  // Before it leaves: the file tells the user why this worker refused.
  save();
  if (refused_.empty()) return;
  say("error: " + refused_);
  leave(1);
}

void Worker::save() const {
  const Json json = {{"worker", name_},
                     {"node", node_name()},
                     {"pid", ::getpid()},
                     {"gpu", environment_variable("CUDA_VISIBLE_DEVICES").value_or("")},
                     {"job", slurm_variable("SLURM_ARRAY_JOB_ID").value_or("")},
                     {"task", slurm_variable("SLURM_ARRAY_TASK_ID").value_or("")},
                     {"environment", environment_},
                     {"refused", refused_},
                     {"warnings", notes_}};
  write_durably(replay_.workers() / (name_ + ".json"), json.dump(1) + "\n");
}

AgentClient::Claim Worker::claim(int64_t from) {
  while (true) {
    AgentClient::Claim claim;
    try {
      claim = agent_.claim(from, seconds_left());
    } catch (const std::exception& problem) {
      // Without an agent this process can do nothing; other workers may.
      say("error: " + std::string(problem.what()));
      leave_now(1);
    }
    if (claim.kind != AgentClient::Kind::wait) return claim;
    if (!claim.why.empty() && claim.why != waited_for_) say("waiting: " + claim.why);
    waited_for_ = claim.why;
    std::this_thread::sleep_for(std::chrono::duration<double>(claim.wait));
  }
}

AgentClient::Kind Worker::hold(int64_t from) {
  while (true) {
    if (!holding_ || current_ >= end_) {
      const AgentClient::Claim claim = this->claim(from);
      if (claim.kind != AgentClient::Kind::segment) return claim.kind;
      holding_ = true;
      current_ = claim.cur;
      end_ = claim.hi;
    }
    // A proof slot may turn out to have no units. Then the next unit is held.
    if (!is_proof(plan_, current_) || choose_proof()) return AgentClient::Kind::segment;
  }
}

const Unit& Worker::next_unit(int64_t from) {
  const auto kind = hold(from);
  if (kind == AgentClient::Kind::done) leave(0);
  // A process cannot undo iterations it has executed, unless every state can be restored. A fresh process can
  // reach earlier units.
  if (kind == AgentClient::Kind::behind) restart();
  // A unit that is killed half-way costs its time twice and counts as a failed try.
  if (kind == AgentClient::Kind::late) {
    say("leaving: no further unit can be done before the job's time limit");
    leave_now(0);
  }
  watch_for_sigterm();
  agent_.running(current_);
  work_.begin(current_);
  if (is_proof(plan_, current_)) {
    // The units of a proof are chosen only now, and may lie before what this process can reach.
    if (from >= 0 && proof_.begin_id() < from) restart();
    return proof_;
  }
  if (current_ < 0 || current_ >= static_cast<int64_t>(plan_.units.size())) {
    fail("the queue names unit " + std::to_string(current_) + ", the plan has " +
         std::to_string(plan_.units.size()));
  }
  return plan_.units[static_cast<std::size_t>(current_)];
}

// Finds out which units the held proof slot executes. Returns false if the slot is done, or was handed back.
bool Worker::choose_proof() {
  try {
    if (!fs::exists(replay_.proof(current_)) &&
        run_tool({"prove", run_.id() + "/" + replay_.id(), std::to_string(current_)}) != 0) {
      throw Error("flor prove chose no units to execute");
    }
    const Proof proof = read_proof(replay_, plan_, current_);
    if (!proof.nothing()) {
      proof_ = unit_of(plan_, proof);
      return true;
    }
    // Nothing to prove: commits an empty unit, so that no other worker tries the slot.
    Unit empty;
    empty.id = current_;
    empty.proves = proof.units;
    commit(empty, "", 0);
  } catch (const std::exception& problem) {
    agent_.release(problem.what());
    holding_ = false;
  }
  return false;
}

void Worker::commit(const Unit& unit, const std::string& content, double seconds) {
  leave_after_sigterm();
  create_directories_durably(unit.is_proof() ? replay_.proofs() : replay_.units());
  const fs::path file = unit.is_proof() ? replay_.proof_rows(unit.id) : replay_.unit(unit.id);
  // The first rows stay. Others are kept for the verdict, which knows what may differ.
  if (publish_once(file, content) == Published::different) {
    const std::string steady = without_volatile_rows(content);
    if (steady != without_volatile_rows(read_file(file))) {
      const fs::path other = replay_.again(unit.id, digest_of(steady));
      create_directories_durably(other.parent_path());
      publish_once(other, content);
    }
  }
  // Publish first, then commit: the file is the truth, and a commit without a file would lose the unit. A
  // lost lease is harmless, as the first file stays.
  const auto lease =
      agent_.commit(unit.id, digest_of(content), static_cast<int64_t>(content.size()), seconds);
  work_.committed(unit.id);
  current_ = unit.id + 1;
  end_ = lease.hi;
  if (lease.lost || current_ >= end_) holding_ = false;
}

void Worker::leave_after_sigterm() {
  if (!sigterm_came()) return;
  // It hands the unit back.
  while (termination_ && termination_->is_ending())
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  say("leaving: SIGTERM came");
  if (holding_) agent_.release();
  holding_ = false;
  requeue_if_preempted(sigterm_came_at());
  leave_now(128 + SIGTERM);
}

void Worker::require_repetition(const Unit& unit, const std::string& outcome, const std::string& why) {
  leave_after_sigterm();
  const auto again = see_ending(replay_, unit.id, outcome, why);
  if (!again) return;
  say((unit.is_proof() ? "proof unit " : "unit ") + std::to_string(unit.id) + " is executed again" +
      (again->pause < 1 ? "" : " in " + std::to_string(std::lround(again->pause)) + " s") + ": " + why);
  // Before the pause, so that a worker on another node may take it meanwhile.
  if (holding_) agent_.release(again->is_failed_try ? why : "");
  holding_ = false;
  for (const double end = monotonic_seconds() + again->pause; monotonic_seconds() < end;) {
    leave_after_sigterm();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  restart();
}

void Worker::finish() {
  if (holding_) agent_.release();
  holding_ = false;
  // The program is at its end, so it cannot execute the unit that it now holds. The agent hands it to the
  // fresh process.
  if (hold(-1) == AgentClient::Kind::segment) restart();
  const int code = collect();
  if (code != 0) leave_now(code);
}

int Worker::collect() const {
  return collects_ ? run_tool({"collect", run_.id() + "/" + replay_.id()}) : 0;
}

void Worker::restored(const std::string& at, double seconds) {
  work_.restored(seconds);
  try {
    LineAppender(replay_.timeline())
        .append(Json({{"kind", "restore"}, {"at", at}, {"seconds", seconds}}).dump() + "\n");
  } catch (const std::exception&) {
    // Ignored: the row only improves the plan of a later replay.
  }
}

void Worker::note(const std::string& line) {
  warn(line);
  if (std::find(notes_.begin(), notes_.end(), line) != notes_.end()) return;
  notes_.push_back(line);
  save();
}

void Worker::fail(const std::string& why, bool lacks_state) {
  leave_after_sigterm();
  say("error: " + why);
  // The replay has its answers without this proof. The proof is tried again, by this worker or another.
  if (holding_ && is_proof(plan_, current_)) {
    agent_.release(why);
    holding_ = false;
    restart();
  }
  try {
    publish_once(
        replay_.failure(),
        Json({{"error", why}, {"lacks_state", lacks_state}, {"worker", name_}, {"node", node_name()}})
                .dump() +
            "\n");
    agent_.release(why);
  } catch (const std::exception& problem) {
    // The disk may be full, for example. The agent sees this process end.
    say("error: " + std::string(problem.what()));
  }
  leave(1);
}

void Worker::drop_out(const std::string& why) {
  say("error: " + why);
  if (holding_) agent_.release(why);
  holding_ = false;
  leave(1);
}

void Worker::leave(int code) {
  if (code == 0 && collects_ && refused_.empty()) {
    try {
      code = collect();
    } catch (const std::exception& problem) {
      say("error: " + std::string(problem.what()));
      code = 1;
    }
  }
  leave_now(code);
}

void Worker::leave_now(int code) {
  // Otherwise other nodes would take this worker for alive for ten minutes.
  presence_.reset();
  leave_process(code);
}

void Worker::restart() {
  // The program that this process becomes would not know of it.
  leave_after_sigterm();
  const int restarts = std::atoi(environment_variable("FLOR_RESTARTS").value_or("0").c_str());
  if (restarts >= most_restarts) leave(1);
  // Hands the segment back in order. Otherwise the queue would count a failed worker, and give the unit up
  // after three.
  if (holding_) agent_.release();
  ::setenv("FLOR_RESTARTS", std::to_string(restarts + 1).c_str(), 1);
  execute_again();
  leave(1);
}

}  // namespace flor::core
