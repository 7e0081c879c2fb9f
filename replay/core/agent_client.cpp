#include "core/agent_client.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/agent_link.h"
#include "core/error.h"
#include "core/json.h"
#include "core/settings.h"

namespace flor::core {
namespace {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

constexpr double ask_again_s = 0.5;
constexpr std::chrono::seconds start_pause{2};        // between two attempts to start an agent
constexpr std::chrono::seconds record_pause{5};       // after a recording found no agent
constexpr std::chrono::milliseconds news_pause{100};  // a recording speaks ten times a second at most
constexpr std::size_t most_news = 64;

Clock::duration seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

std::string slurm(const char* first, const char* second) {
  if (auto value = environment_variable(first)) return *value;
  return environment_variable(second).value_or("");
}

struct DoneUnit {
  int64_t unit = 0;
  std::string digest;
  int64_t bytes = 0;
  double seconds = 0;
};

struct Held {
  std::string segment, fence;
};

}  // namespace

// `mutex` guards what is known. Who talks to the agent has the turn (`busy`), never the mutex, so that
// reading what is known waits for nobody.
struct AgentClient::State {
  State(Hello h, Options o) : hello(std::move(h)), options(std::move(o)), link(socket_of(options)) {
    if (hello.redis.empty()) hello.redis = Settings::load().get("redis").value_or("");
  }
  static std::string socket_of(const Options& options) {
    return options.socket.empty() ? agent_socket_path() : options.socket;
  }

  bool foreign() const {
    return ::getpid() != pid;
  }  // a forked child: no thread, a socket that is its parent's
  Time patience() const { return Clock::now() + seconds(options.patience_s); }

  // With the turn:
  bool connect(Time until);
  bool start();
  bool greet(Time until);
  Json greeting();
  std::optional<Json> ask(const Json& request, Time until);
  bool flush(Time until);
  void absorb(const Json& answer, int64_t next);
  void hand_back(const std::string& error, Time until);
  void progress(Time until);
  void tell_news(Time until);
  [[noreturn]] void give_up() const;

  void start_thread();
  void work() noexcept;
  void one_beat();

  Hello hello;
  Options options;
  const pid_t pid = ::getpid();
  AgentLink link;

  mutable std::mutex mutex;
  std::condition_variable changed;
  bool busy = false, stop = false;
  std::optional<Held> held;
  Standing known;
  int64_t unit = 0;
  double beat = 1;
  std::deque<DoneUnit> unsent;
  std::deque<Json> news;
  std::thread thread;

  // Of whoever has the turn:
  std::optional<Time> out_of_reach_since;
  std::string trouble;   // why there is no agent, or what it refused
  bool refused = false;  // by an agent that answered
  Time start_at, news_at;
};

namespace {

// The turn to talk to the agent; false when it did not come in time.
template <class State>
class Turn {
 public:
  Turn(State& state, Time until) : state_(state) {
    std::unique_lock lock(state_.mutex);
    mine_ = state_.changed.wait_until(lock, until, [this] { return !state_.busy; });
    if (mine_) state_.busy = true;
  }
  ~Turn() {
    if (!mine_) return;
    {
      const std::lock_guard lock(state_.mutex);
      state_.busy = false;
    }
    state_.changed.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return mine_; }

 private:
  State& state_;
  bool mine_ = false;
};

}  // namespace

Json AgentClient::State::greeting() {
  Json out = {{"op", "hello"}, {"protocol", 1}, {"mode", hello.mode}, {"run_dir", hello.run_dir}};
  if (hello.mode == "record") {
    out["run"] = hello.run;
  } else {
    out["replay"] = hello.replay;
    out["worker"] = hello.worker;
    out["node"] = node_name();
    out["gpu"] = hello.gpu;
    out["job"] = slurm("SLURM_ARRAY_JOB_ID", "SLURM_JOB_ID");
    out["task"] = slurm("SLURM_ARRAY_TASK_ID", "SLURM_PROCID");
  }
  out["redis"] = hello.redis;
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
  start_at = Clock::now() + start_pause;
  const std::string program = options.agent.empty() ? find_tool("flor-agent") : options.agent;
  if (program.empty()) {
    trouble =
        "nobody listens there, and there is no flor-agent to start: put it beside libflor or on PATH, or set "
        "FLOR_BIN";
    return false;
  }
  trouble = program + " could not be started there; see " + link.socket() + ".log";
  return start_agent(program, link.socket(), Clock::now() + start_pause) && link.open();
}

bool AgentClient::State::connect(Time until) {
  refused = false;
  if (link.is_open() && !link.ended()) return true;
  if (!link.open()) {
    if (trouble.empty()) trouble = "nobody listens there";
    // A recording is worth telling somebody only where somebody may listen.
    const bool wanted = hello.mode != "record" || !hello.redis.empty();
    if (!wanted || !start()) return false;
  }
  return greet(until);
}

bool AgentClient::State::greet(Time until) {
  const auto line = link.exchange(json_text(greeting()), until);
  const Json answer = line ? Json::parse(*line, nullptr, false) : Json();
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
  Json answer = line ? Json::parse(*line, nullptr, false) : Json();
  if (field(answer, "ok", false)) return answer;
  refused = answer.is_object();
  trouble = refused ? field<std::string>(answer, "error", "it refused") : "it does not answer";
  link.close();
  return std::nullopt;
}

// What an answer says of the held segment; `next`: the unit that follows on what was answered.
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

// Sends the commits that got no answer yet, in order. False when some are left.
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
    if (!answer && !refused)
      answer = ask(request, until);  // the agent died just now: once more, with the next
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
  ask(request, until);  // unanswered, the lease runs out
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
  std::deque<Json> lines;
  {
    const std::lock_guard lock(mutex);
    lines.swap(news);
  }
  if (Clock::now() < news_at) return;
  for (const auto& line : lines) {
    if (!ask(line, until)) {
      news_at = Clock::now() + record_pause;
      return;
    }
  }
}

void AgentClient::State::give_up() const {
  throw Error("flor-agent at " + link.socket() + (refused ? " refused: " : " cannot be reached: ") + trouble);
}

void AgentClient::State::start_thread() {
  if (thread.joinable()) return;
  // The program's signals are for the program's threads.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread = std::thread([this] { work(); });
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void AgentClient::State::one_beat() {
  bool has_news = false;
  bool holds = false;
  {
    const std::lock_guard lock(mutex);
    has_news = !news.empty();
    holds = held.has_value();
  }
  if (!has_news && !holds) return;
  const Turn turn(*this, patience());
  if (!turn) return;
  if (holds) progress(patience());
  if (has_news) tell_news(Clock::now() + std::chrono::seconds(2));
}

void AgentClient::State::work() noexcept {
  std::unique_lock lock(mutex);
  Time spoke = Clock::now() - news_pause;
  while (!stop) {
    const Time next = Clock::now() + seconds(beat);
    changed.wait_until(lock, next, [this] { return stop || !news.empty(); });
    if (!news.empty() && !stop) changed.wait_until(lock, spoke + news_pause, [this] { return stop; });
    lock.unlock();
    try {
      one_beat();
    } catch (const std::exception&) {  // out of memory: the next beat may do
    }
    lock.lock();
    spoke = Clock::now();
  }
  lock.unlock();
  try {  // the last that a recording has to tell
    const Time soon = Clock::now() + 2 * news_pause;
    const Turn turn(*this, soon);
    if (turn && link.is_open()) tell_news(soon);
  } catch (const std::exception&) {
  }
}

AgentClient::AgentClient(Hello hello) : AgentClient(std::move(hello), Options()) {}
AgentClient::AgentClient(Hello hello, Options options)
    : state_(std::make_unique<State>(std::move(hello), std::move(options))) {}

AgentClient::~AgentClient() {
  State& s = *state_;
  if (s.foreign()) {
    // The thread and the locks it holds exist in the parent only: they can neither be joined nor destroyed
    // here.
    static_cast<void>(state_.release());  // NOLINT(bugprone-unused-return-value)
    return;
  }
  {
    std::unique_lock lock(s.mutex);
    s.stop = true;
    s.changed.notify_all();
    // An exchange takes a millisecond; one that hangs is broken off.
    if (!s.changed.wait_for(lock, std::chrono::milliseconds(300), [&] { return !s.busy; }))
      s.link.cancel(true);
  }
  if (s.thread.joinable()) s.thread.join();
  s.link.cancel(false);
  try {
    s.hand_back("", Clock::now() + std::chrono::seconds(2));
  } catch (const std::exception&) {  // out of memory: the end of the connection says the same, less politely
  }
}

AgentClient::Claim AgentClient::claim(int64_t from) {
  State& s = *state_;
  Claim out;
  if (s.foreign()) {
    out.kind = Kind::done;
    return out;
  }
  out.wait = ask_again_s;
  const Time until = s.patience();
  const Turn turn(s, until);
  std::optional<Json> answer;
  if (turn && s.flush(until)) {
    s.hand_back("", until);
    answer = s.ask({{"op", "claim"}, {"from", from}}, until);
  }
  if (!answer) {
    if (!turn) {
      out.why = "flor-agent does not answer";
      return out;
    }
    const Time now = Clock::now();
    if (!s.out_of_reach_since) s.out_of_reach_since = now;
    if (s.refused || now - *s.out_of_reach_since >= seconds(s.options.give_up_s)) s.give_up();
    out.why = "flor-agent at " + s.link.socket() + ": " + s.trouble;
    return out;
  }
  s.out_of_reach_since.reset();
  out.segment = field<std::string>(*answer, "segment", "");
  out.fence = field<std::string>(*answer, "fence", "");
  out.why = field<std::string>(*answer, "why", "");
  out.wait = field(*answer, "wait", ask_again_s);
  if (field(*answer, "done", false)) out.kind = Kind::done;
  if (field(*answer, "behind", false)) out.kind = Kind::behind;
  if (out.segment.empty()) return out;
  out.kind = Kind::segment;
  out.lo = field<int64_t>(*answer, "lo", 0);
  out.hi = field<int64_t>(*answer, "hi", 0);
  out.cur = field<int64_t>(*answer, "cur", 0);
  const std::lock_guard lock(s.mutex);
  s.held = Held{out.segment, out.fence};
  s.known = {false, out.hi};
  s.unit = out.cur;
  s.start_thread();
  return out;
}

AgentClient::Standing AgentClient::standing() const {
  if (state_->foreign()) return {};
  const std::lock_guard lock(state_->mutex);
  return state_->known;
}

void AgentClient::running(int64_t unit) {
  if (state_->foreign()) return;
  const std::lock_guard lock(state_->mutex);
  state_->unit = unit;
}

AgentClient::Standing AgentClient::commit(int64_t unit, const std::string& digest, int64_t bytes,
                                          double duration) {
  State& s = *state_;
  if (s.foreign()) return {};
  {
    const std::lock_guard lock(s.mutex);
    if (!s.held) return {true, s.known.hi};
    s.unsent.push_back({unit, digest, bytes, duration});
  }
  const Time until = s.patience();
  const Turn turn(s, until);
  if (turn) s.flush(until);
  return standing();
}

void AgentClient::release(const std::string& error) {
  State& s = *state_;
  if (s.foreign()) return;
  const Time until = s.patience();
  const Turn turn(s, until);
  if (turn) s.hand_back(error, until);
}

void AgentClient::progress_record(const std::string& at, int64_t of, double duration) {
  State& s = *state_;
  if (s.foreign()) return;
  {
    const std::lock_guard lock(s.mutex);
    s.news.push_back({{"op", "progress"}, {"at", at}, {"of", of}, {"seconds", duration}});
    if (s.news.size() > most_news) s.news.pop_front();
    s.start_thread();
  }
  s.changed.notify_all();
}

}  // namespace flor::core
