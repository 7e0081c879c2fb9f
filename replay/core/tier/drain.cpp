#include "core/tier/drain.h"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/clock.h"
#include "core/base/messages.h"
#include "core/base/rate_limiter.h"
#include "core/base/units_text.h"
#include "core/tier/spool.h"

namespace flor::core {
namespace {

constexpr double patience_s = 2;  // before the wait is worth a line
constexpr double hung_s = 120;
constexpr auto look_again = std::chrono::milliseconds(50);

std::string files_text(const std::vector<WaitingFile>& files) {
  return std::to_string(files.size()) + (files.size() == 1 ? " checkpoint (" : " checkpoints (") +
         bytes_text(bytes_of(files)) + ")";
}

class Rest {
 public:
  explicit Rest(const LocalRun& local) : local_(local) {}

  // Returns why it stays in the local tier; "" if it is in the store.
  std::string bring_newest() {
    const Spooled done = spool(Which::newest);
    return done.troubles.empty() ? "" : left_there(waiting_files(local_), done.troubles.front());
  }

  std::string bring(AgentClient& agent) {
    auto files = waiting_files(local_);
    for (; !files.empty(); files = waiting_files(local_)) {
      say_that_it_takes_long(files);
      const auto lock = FileLock::try_take(local_.lock());
      // Another process holds the lock: an agent is at work. If it does not answer, or no file moves, it may
      // hang for ever. Two at work do no harm.
      const bool moves = is_moving(files);
      if (!lock && moves && agent.spooler() != AgentClient::Spooler::none) {
        std::this_thread::sleep_for(look_again);
        continue;
      }
      const Spooled done = spool(Which::all);
      if (done.files == 0 && !done.troubles.empty())
        return left_there(waiting_files(local_), done.troubles.front());
    }
    remove();
    return "";
  }

 private:
  // The program is at its end and needs no more room in the store.
  Spooled spool(Which which) {
    return core::spool(local_, [this](std::uint64_t bytes) { return pace(bytes); }, {which, false});
  }

  std::string left_there(const std::vector<WaitingFile>& files, const std::string& why) const {
    return "left in the local tier " + local_.path.string() + " of node " + local_.node + ": " +
           files_text(files) + "; " + why;
  }

  void remove() const {
    try {
      remove_local_run(local_);
    } catch (const std::exception&) {  // empty, and harmless: the next agent tries again
    }
  }

  bool pace(std::uint64_t bytes) {
    const double wait = pacer_.wait_after(bytes, local_.rate, monotonic_seconds());
    if (wait > 0) std::this_thread::sleep_for(std::chrono::duration<double>(wait));
    say_that_it_takes_long(std::nullopt);
    return true;
  }

  // Whether a file was copied lately. With a rate limit one may take longer.
  bool is_moving(const std::vector<WaitingFile>& files) {
    const double now = monotonic_seconds();
    if (std::exchange(waiting_, files.size()) != files.size()) moved_ = now;
    const double due =
        local_.rate == 0 ? 0 : static_cast<double>(files.front().bytes) / static_cast<double>(local_.rate);
    return now - moved_ < hung_s + 2 * due;
  }

  void say_that_it_takes_long(const std::optional<std::vector<WaitingFile>>& files) {
    if (said_ || monotonic_seconds() - began_ < patience_s) return;
    said_ = true;
    say("waiting until " + files_text(files ? *files : waiting_files(local_)) +
        " of the local tier are in the store");
  }

  const LocalRun& local_;
  const double began_ = monotonic_seconds();
  double moved_ = began_;
  std::size_t waiting_ = 0;
  bool said_ = false;
  RateLimiter pacer_;
};

}  // namespace

std::string spool_rest(const LocalRun& local, AgentClient& agent, RecordingEnd end) {
  try {
    Rest rest(local);
    std::string why;
    if (end == RecordingEnd::interrupted) why = rest.bring_newest();
    const auto files = waiting_files(local);
    if (!files.empty() && agent.spooler() == AgentClient::Spooler::service) {
      say("the agent of node " + local.node + " brings the last " + files_text(files) +
          " of the local tier to the store");
      return why;
    }
    return rest.bring(agent);
  } catch (const std::exception& problem) {
    return "the local tier " + local.path.string() + ": " + problem.what();
  }
}

}  // namespace flor::core
