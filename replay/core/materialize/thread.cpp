#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/blocked_signals.h"
#include "core/materialize/base.h"
#include "core/materialize/contention.h"
#include "core/materialize/direct_output.h"
#include "core/materialize/memory_watch.h"

namespace flor::core {
namespace {

// Bytes. Less memory is mapped in less time than it takes to wake the thread.
constexpr std::size_t worth_preparing = std::size_t{2} << 20;

class ThreadMaterializer : public MaterializerBase {
 public:
  explicit ThreadMaterializer(Tiers tiers) : MaterializerBase(std::move(tiers)) {
    const BlockedSignals blocked;
    thread_ = std::thread([this] { work(); });
  }

  ~ThreadMaterializer() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  std::string materialize(MaterializeJob job, const std::vector<Buffer>& live) override try {
    drain();  // there is only one copy, and an earlier checkpoint may still use it
    Task task;
    task.entries = entries_for(live, job.file);
    task.job = job;
    const std::size_t bytes = to_stage(task.entries, Copy::all);
    task.fetches = begin_to_stage(task.entries, live, staging_.require(bytes));
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      task_ = std::move(task);
      prepared_ = std::max(prepared_, bytes);
    }
    changed_.notify_all();
    return "";
  } catch (const std::exception& problem) {
    staging_.give_back();
    unchanged_.settled(job.file);
    return problem.what();
  }

  bool busy() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return task_.has_value();
  }

  void drain() override {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return !task_ && !to_prepare_; });
  }

  bool ready(std::size_t bytes, double patience) override {
    std::unique_lock<std::mutex> lock(mutex_);
    if (bytes > prepared_ && bytes >= worth_preparing && bytes > to_prepare_.value_or(0)) {
      to_prepare_ = bytes;
      changed_.notify_all();
    }
    if (task_) return false;
    if (!to_prepare_) return true;
    changed_.wait_for(lock, std::chrono::duration<double>(patience), [&] { return !to_prepare_; });
    return !to_prepare_;
  }

  double take_preparation() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(preparation_, 0);
  }

 private:
  struct Task {
    MaterializeJob job;
    std::vector<Entry> entries;
    Fetches fetches;
  };

  void work() {
    lower_priority();
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopping_ || task_ || to_prepare_; });
      if (to_prepare_ && !task_) {
        const std::size_t bytes = *to_prepare_;
        lock.unlock();
        double taken = 0;
        keep_failure([&] { taken = prepare(bytes); });
        lock.lock();
        preparation_ += taken;
        prepared_ = bytes;
        if (*to_prepare_ == bytes) to_prepare_.reset();
      } else if (task_) {
        lock.unlock();
        keep_failure([&] { write(*task_); });
        staging_.give_back();  // while the task is there, so that no copy is made into it meanwhile
        lock.lock();
        task_.reset();
      } else {
        return;
      }
      changed_.notify_all();
    }
  }

  // Maps the staging memory, of which the kernel may take back all but the step at work. Returns the seconds
  // that this took from training; 0 if there are processors for all.
  double prepare(std::size_t bytes) {
    constexpr std::size_t step = std::size_t{16} << 20;  // after each step, check whether to stop
    const Stopwatch watch;
    const std::optional<double> before = waited_for_processors();
    try {
      if (!MemoryWatch::here().is_plentiful(bytes)) return 0;  // the pages would not stay
      staging_.map(bytes);
      for (std::size_t at = 0; at < bytes && !stopping_; at += step) staging_.touch(at, step);
    } catch (const std::bad_alloc&) {  // materialize() will fail as well, and report it
    }
    // The kernel counts a wait when it ends: yield, so that a thread waiting for this processor gets it now.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::optional<double> after = waited_for_processors();
    const double used = watch.processor();
    return before && after ? std::clamp(*after - *before, 0.0, used) : used;
  }

  void write(Task& task) {
    const Stopwatch watch;
    Materialized result;
    Image image;
    try {
      for (auto& fetch : task.fetches) {
        fetch();
        fetch = nullptr;  // frees the snapshot's memory on the device
      }
      if (task.job.before) task.job.before();
      image = make_image(tiers_, task.job, std::move(task.entries));
      const Failure failure = write_file(image, output_);
      if (failure) result.error = failed_with(failure, image);
    } catch (const std::exception& problem) {
      result.error = problem.what();
    }
    result.write = watch.elapsed();
    if (result.error.empty()) output_.took(result.write);
    result.engine = output_.engine();
    result.processor = watch.processor();
    settle(task.job, image, std::move(result));
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Task> task_;               // the checkpoint that is being written from the staging memory
  std::optional<std::size_t> to_prepare_;  // bytes of staging memory that are being mapped
  std::size_t prepared_ = 0;               // bytes that were mapped; the kernel may have taken some since
  double preparation_ = 0;                 // see take_preparation()
  // For the writer while there is a task or memory to prepare; else for the training thread.
  Staging staging_;
  std::atomic<bool> stopping_{false};  // set under the mutex
  DirectOutput output_;                // for the writer only
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Materializer> make_thread_materializer(const Tiers& tiers) {
  return std::make_unique<ThreadMaterializer>(tiers);
}

}  // namespace flor::core
