#include "core/agent/client.h"

#include <csignal>
#include <exception>

#include "core/agent/state.h"

namespace flor::core {
namespace {

constexpr double ask_again_s = 0.5;

}  // namespace

void AgentClient::State::start_thread() {
  if (thread.joinable()) return;
  // Signals of the program go to the program's own threads.
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
  bool must_tell = false;
  bool holds = false;
  {
    const std::lock_guard lock(mutex);
    must_tell = has_news;
    holds = held.has_value();
  }
  if (!must_tell && !holds) return;
  const Turn turn(*this, patience());
  if (!turn) return;
  if (holds) progress(patience());
  if (must_tell) tell_news(in(2));
}

void AgentClient::State::work() noexcept {
  std::unique_lock lock(mutex);
  Time speak = Clock::now();
  while (!stop) {
    const Time next = in(beat);
    changed.wait_until(lock, next, [this] { return stop || has_news; });
    if (has_news && !stop) changed.wait_until(lock, speak, [this] { return stop; });
    lock.unlock();
    try {
      one_beat();
    } catch (const std::exception&) {  // out of memory: the next beat may do
    }
    lock.lock();
    speak = in(news_pause_s);
  }
  lock.unlock();
  try {  // sends the last news of a recording
    const Time soon = in(2 * news_pause_s);
    const Turn turn(*this, soon);
    if (turn && link.is_open()) tell_news(soon);
  } catch (const std::exception&) {
  }
}

void AgentClient::State::post_spool() {
  if (foreign()) return;
  {
    const std::lock_guard lock(mutex);
    has_news = true;
    start_thread();
  }
  changed.notify_all();
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
    // An exchange takes a millisecond. Cancels one that hangs.
    if (!s.changed.wait_for(lock, std::chrono::milliseconds(300), [&] { return !s.busy; }))
      s.link.cancel(true);
  }
  if (s.thread.joinable()) s.thread.join();
  s.link.cancel(false);
  try {
    s.hand_back("", State::in(2));
  } catch (const std::exception&) {  // out of memory: the closed connection says the same
  }
}

AgentClient::Claim AgentClient::claim(int64_t from, std::optional<int64_t> left) {
  State& s = *state_;
  Claim out;
  if (s.foreign()) {
    out.kind = Kind::done;
    return out;
  }
  out.wait = ask_again_s;
  const auto until = s.patience();
  const State::Turn turn(s, until);
  std::optional<Json> answer;
  if (turn && s.flush(until)) {
    s.hand_back("", until);
    Json request = {{"op", "claim"}, {"from", from}};
    if (left) request["left"] = *left;
    answer = s.ask(request, until);
  }
  if (!answer) {
    if (!turn) {
      out.why = "flor-agent does not answer";
      return out;
    }
    const auto now = State::Clock::now();
    if (!s.out_of_reach_since) s.out_of_reach_since = now;
    if (s.refused || now - *s.out_of_reach_since >= std::chrono::duration<double>(s.options.give_up_s))
      s.give_up();
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
  if (field(*answer, "late", false)) out.kind = Kind::late;
  if (out.segment.empty()) return out;
  out.kind = Kind::segment;
  out.lo = field<int64_t>(*answer, "lo", 0);
  out.hi = field<int64_t>(*answer, "hi", 0);
  out.cur = field<int64_t>(*answer, "cur", 0);
  const std::lock_guard lock(s.mutex);
  s.held = State::Held{out.segment, out.fence};
  s.known = {false, out.hi};
  s.unit = out.cur;
  s.start_thread();
  return out;
}

AgentClient::LeaseStatus AgentClient::lease() const {
  if (state_->foreign()) return {};
  const std::lock_guard lock(state_->mutex);
  return state_->known;
}

void AgentClient::running(int64_t unit) {
  if (state_->foreign()) return;
  const std::lock_guard lock(state_->mutex);
  state_->unit = unit;
}

AgentClient::LeaseStatus AgentClient::commit(int64_t unit, const std::string& digest, int64_t bytes,
                                             double duration) {
  State& s = *state_;
  if (s.foreign()) return {};
  {
    const std::lock_guard lock(s.mutex);
    if (!s.held) return {true, s.known.hi};
    s.unsent.push_back({unit, digest, bytes, duration});
  }
  const auto until = s.patience();
  const State::Turn turn(s, until);
  if (turn) s.flush(until);
  return lease();
}

void AgentClient::release(const std::string& error) {
  State& s = *state_;
  if (s.foreign()) return;
  const auto until = s.patience();
  const State::Turn turn(s, until);
  if (turn) s.hand_back(error, until);
}

void AgentClient::spool_soon() {
  if (!state_->hello.local.empty()) state_->post_spool();
}

AgentClient::Spooler AgentClient::spooler() {
  State& s = *state_;
  if (s.foreign()) return Spooler::none;
  const auto until = s.patience();
  const State::Turn turn(s, until);
  if (!turn || !s.connect(until, false)) return Spooler::none;
  const auto answer = s.ask({{"op", "spool"}}, until);
  if (!answer) return Spooler::none;
  return field(*answer, "service", false) ? Spooler::service : Spooler::on_demand;
}

}  // namespace flor::core
