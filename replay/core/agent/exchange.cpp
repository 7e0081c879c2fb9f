// Exchanges messages with the agent. The thread that holds the turn calls these functions.
#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "core/agent/socket.h"
#include "core/agent/state.h"
#include "core/base/error.h"
#include "core/config/inherited.h"
#include "core/config/tools.h"
#include "core/process/spawn.h"

namespace flor::core {
namespace {

// Seconds between two attempts to start an agent.
constexpr double start_pause_s = 2;
// Seconds without messages after a recording found no agent.
constexpr double record_pause_s = 5;

std::string slurm(const char* first, const char* second) {
  if (auto value = slurm_variable(first)) return *value;
  return environment_variable(second).value_or("");
}

}  // namespace

AgentClient::State::Turn::Turn(State& state, Time until) : state_(state) {
  std::unique_lock lock(state_.mutex);
  mine_ = state_.changed.wait_until(lock, until, [this] { return !state_.busy; });
  if (mine_) state_.busy = true;
}

AgentClient::State::Turn::~Turn() {
  if (!mine_) return;
  {
    const std::lock_guard lock(state_.mutex);
    state_.busy = false;
  }
  state_.changed.notify_all();
}

Json AgentClient::State::greeting() {
  Json out = {{"op", "hello"}, {"protocol", 1}, {"mode", hello.mode}, {"run_dir", hello.run_dir}};
  if (hello.mode == "record") {
    out["run"] = hello.run;
    if (!hello.local.empty()) out["local"] = hello.local;
  } else {
    out["redis"] = hello.redis;
    out["replay"] = hello.replay;
    out["worker"] = hello.worker;
    out["node"] = node_name();
    out["gpu"] = hello.gpu;
    out["job"] = slurm("SLURM_ARRAY_JOB_ID", "SLURM_JOB_ID");
    out["task"] = slurm("SLURM_ARRAY_TASK_ID", "SLURM_PROCID");
  }
  out["pid"] = static_cast<int64_t>(pid);
  const std::lock_guard lock(mutex);
  if (held) {
    out["segment"] = held->segment;
    out["fence"] = held->fence;
    out["hi"] = known.hi;
  }
  return out;
}

bool AgentClient::State::start() {
  if (Clock::now() < start_at) return false;
  start_at = in(start_pause_s);
  const std::string program = options.agent.empty() ? find_tool("flor-agent") : options.agent;
  if (program.empty()) {
    trouble =
        "nobody listens there, and there is no flor-agent to start: put it beside libflor or on PATH, or set "
        "FLOR_BIN";
    return false;
  }
  try {
    prepare_agent_directory(link.socket());
  } catch (const Error& problem) {  // Without that directory the agent has no log to report this in.
    trouble = problem.what();
    return false;
  }
  trouble = program + " could not be started there";
  std::error_code ignored;
  if (const std::string log = link.socket() + ".log"; std::filesystem::exists(log, ignored))
    trouble += "; see " + log;
  if (!start_detached({program, "--on-demand", "--detach", "--socket", link.socket()})) return false;
  // Another process may have started one first.
  for (const auto until = in(start_pause_s); !link.open();) {
    if (Clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

bool AgentClient::State::connect(Time until, bool may_start) {
  refused = false;
  if (link.is_open() && !link.ended()) return true;
  if (!link.open()) {
    if (trouble.empty()) trouble = "nobody listens there";
    // A recording starts an agent only where there are files to copy.
    const bool wanted = hello.mode != "record" || !hello.local.empty();
    if (!wanted || !may_start || !start()) return false;
  }
  return greet(until);
}

bool AgentClient::State::greet(Time until) {
  const auto line = link.exchange(json_text(greeting()), until);
  const Json answer = line ? parse_json(*line) : Json();
  if (field(answer, "ok", false)) {
    const std::lock_guard lock(mutex);
    beat = std::min(std::max(field(answer, "beat", 1.0), 0.01), 10.0);
    trouble.clear();
    if (held && field(answer, "lost", false)) {
      known.lost = true;
      held.reset();
      unsent.clear();
    } else if (held) {
      known.hi = field(answer, "hi", known.hi);
    }
    return true;
  }
  refused = answer.is_object();
  trouble = refused ? field<std::string>(answer, "error", "it refused") : "it does not answer";
  link.close();
  return false;
}

std::optional<Json> AgentClient::State::ask(const Json& request, Time until) {
  if (!connect(until)) return std::nullopt;
  const auto line = link.exchange(json_text(request), until);
  Json answer = line ? parse_json(*line) : Json();
  if (field(answer, "ok", false)) return answer;
  refused = answer.is_object();
  trouble = refused ? field<std::string>(answer, "error", "it refused") : "it does not answer";
  link.close();
  return std::nullopt;
}

// Applies an answer about the held segment. `next` is the unit after the one that was answered.
void AgentClient::State::absorb(const Json& answer, int64_t next) {
  const std::lock_guard lock(mutex);
  if (!held) return;
  if (field(answer, "lost", false)) {
    known.lost = true;
    held.reset();
    unsent.clear();
    return;
  }
  known.hi = field(answer, "hi", known.hi);
  if (next >= known.hi) held.reset();
}

bool AgentClient::State::flush(Time until) {
  for (;;) {
    Json request;
    int64_t next = 0;
    {
      const std::lock_guard lock(mutex);
      if (!held) unsent.clear();
      if (unsent.empty()) return true;
      const auto& done = unsent.front();
      next = done.unit + 1;
      request = {{"op", "commit"},        {"segment", held->segment}, {"unit", done.unit},
                 {"digest", done.digest}, {"bytes", done.bytes},      {"seconds", done.seconds}};
    }
    auto answer = ask(request, until);
    // The agent may have died: try once more with the next one.
    if (!answer && !refused) answer = ask(request, until);
    if (!answer && !refused) return false;
    {
      const std::lock_guard lock(mutex);
      if (!unsent.empty() && unsent.front().unit + 1 == next) unsent.pop_front();
    }
    absorb(answer ? *answer : Json{{"lost", true}}, next);
  }
}

void AgentClient::State::hand_back(const std::string& error, Time until) {
  flush(until);
  Json request = {{"op", "release"}};
  {
    const std::lock_guard lock(mutex);
    if (!held) return;
    request["segment"] = held->segment;
  }
  if (!error.empty()) request["error"] = error.substr(0, 1000);
  // Without an answer the lease expires.
  ask(request, until);
  const std::lock_guard lock(mutex);
  held.reset();
  unsent.clear();
}

void AgentClient::State::progress(Time until) {
  if (!flush(until)) return;
  Json request = {{"op", "progress"}};
  {
    const std::lock_guard lock(mutex);
    if (!held) return;
    request["segment"] = held->segment;
    request["unit"] = unit;
  }
  if (const auto answer = ask(request, until)) absorb(*answer, -1);
}

void AgentClient::State::tell_news(Time until) {
  {
    const std::lock_guard lock(mutex);
    if (!std::exchange(has_news, false)) return;
  }
  if (Clock::now() < news_at) return;
  if (ask({{"op", "spool"}}, until)) {
    gone_at.reset();
    return;
  }
  news_at = in(record_pause_s);
  if (!gone_at) gone_at = in(options.give_up_s);
  if (options.on_refusal && (refused || Clock::now() >= *gone_at)) options.on_refusal(problem());
}

std::string AgentClient::State::problem() const {
  return "flor-agent at " + link.socket() + (refused ? " refused: " : " cannot be reached: ") + trouble;
}

void AgentClient::State::give_up() const {
  throw Error(problem());
}

}  // namespace flor::core
