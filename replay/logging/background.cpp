#include "logging/background.h"

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <utility>
#include <vector>

#include "core/base/blocked_signals.h"
#include "core/base/json.h"
#include "core/base/messages.h"
#include "core/config/settings.h"

namespace flor::logging {
namespace {

constexpr std::size_t default_mebibytes = 256;
constexpr double slowest_store = 10e6;  // bytes a second

core::LateValue value_of(const Background::Job& job, const void* bytes) {
  try {
    return job(bytes);
  } catch (const std::exception& problem) {
    return {core::json_text({{"error", problem.what()}}), problem.what()};
  }
}

core::Later at_once(const core::Buffer& live, const Background::Job& job) {
  const void* bytes = live.data != nullptr ? live.data : live.owned.data();
  std::vector<unsigned char> copy;
  if (live.copy) {
    copy.resize(live.bytes);
    live.copy(copy.data());
    bytes = copy.data();
  }
  std::promise<core::LateValue> value;
  value.set_value(value_of(job, bytes));
  return value.get_future().share();
}

// The value of a job for which there was no room.
core::Later left_out() {
  const std::string why = "the files of logged tensors cannot be written: the store does not answer";
  core::warn_once(why + "; training goes on, and what is logged meanwhile is left out");
  std::promise<core::LateValue> value;
  value.set_value({core::json_text({{"error", why}}), why});
  return value.get_future().share();
}

std::size_t configured_limit() {
  const auto text = core::environment_variable("FLOR_LOG_MEMORY");
  if (!text) return default_mebibytes << 20;
  std::size_t mebibytes = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), mebibytes);
  if (error != std::errc() || end != text->data() + text->size() || mebibytes > (std::size_t{1} << 20)) {
    core::warn("FLOR_LOG_MEMORY=" + *text + " is no number of MiB; " + std::to_string(default_mebibytes) +
               " is used");
    mebibytes = default_mebibytes;
  }
  return mebibytes << 20;
}

}  // namespace

Background::Background(std::size_t limit, double patience)
    : process_(::getpid()), patience_(patience), staging_(limit) {}

Background::~Background() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

core::Later Background::submit(const core::Buffer& live, Job job, After after, bool writes) {
  // In a forked child a thread that does not exist there may hold the lock.
  if (::getpid() != process_ || staging_.limit() == 0) return at_once(live, job);
  if (live.bytes > staging_.limit()) {
    return writes ? submit_large(live, std::move(job), std::move(after)) : at_once(live, job);
  }
  const auto offset = reserve(live.bytes);
  if (!offset) return left_out();
  try {
    live.copy_to(staging_.at(*offset));
  } catch (...) {
    give_back(*offset);
    throw;
  }
  return enqueue({std::move(job), std::move(after), *offset, {}, {}});
}

// At most one such copy exists at a time.
core::Later Background::submit_large(const core::Buffer& live, Job job, After after) {
  const auto is_idle = [this] { return queue_.empty() && !working_; };
  std::unique_lock<std::mutex> lock(mutex_);
  if (!wait_until(lock, is_idle)) return left_out();
  lock.unlock();
  Task task{std::move(job), std::move(after), 0, std::vector<unsigned char>(live.bytes), {}};
  live.copy_to(task.large.data());
  core::Later value = enqueue(std::move(task));
  lock.lock();
  wait_until(lock, is_idle, static_cast<double>(live.bytes));
  return value;
}

core::Later Background::enqueue(Task task) {
  core::Later value = task.value.get_future().share();
  bool idle = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    start();
    idle = queue_.empty() && !working_;
    queue_.push_back(std::move(task));
  }
  if (idle) wake_.notify_one();
  return value;
}

bool Background::wait_until(std::unique_lock<std::mutex>& lock, const std::function<bool()>& is_so,
                            double to_write) {
  if (patience_ == forever) {
    room_.wait(lock, is_so);
    return true;
  }
  if (is_so()) return true;
  const std::chrono::duration<double> patience(stuck_ ? 0 : patience_ + to_write / slowest_store);
  const bool is = room_.wait_for(lock, patience, is_so);
  stuck_ = !is;
  return is;
}

std::optional<std::size_t> Background::reserve(std::size_t size) {
  std::unique_lock<std::mutex> lock(mutex_);
  std::optional<std::size_t> offset;
  wait_until(lock, [&] { return (offset = staging_.take(size)).has_value(); });
  return offset;
}

void Background::give_back(std::size_t offset) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    staging_.give_back(offset);
  }
  room_.notify_all();
}

void Background::start() {
  if (thread_.joinable()) return;
  const core::BlockedSignals blocked;  // the program's signals are its own threads'
  thread_ = std::thread([this] { work(); });
}

void Background::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    working_ = true;
    lock.unlock();
    const bool is_large = !task.large.empty();
    task.value.set_value(value_of(task.job, is_large ? task.large.data() : staging_.at(task.offset)));
    task.job = nullptr;
    task.large = {};
    if (task.after) task.after();
    lock.lock();
    if (!is_large) staging_.give_back(task.offset);
    working_ = stuck_ = false;
    room_.notify_all();
  }
}

void Background::drain() {
  if (::getpid() != process_) return;
  std::unique_lock<std::mutex> lock(mutex_);
  room_.wait(lock, [&] { return queue_.empty() && !working_; });
}

Background& process_background() {
  static auto* instance =
      new Background(configured_limit(),
                     core::environment_variable("FLOR_REPLAY") ? Background::forever : core::hung_seconds());
  return *instance;
}

}  // namespace flor::logging
