#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "core/materialize/base.h"
#include "core/materialize/deep_output.h"
#include "core/signals.h"

namespace flor::core {
namespace {

// Small checkpoints may queue up to this many bytes; a larger one is alone.
constexpr std::size_t small_total = std::size_t{64} << 20;
constexpr std::size_t most_queued = 8;

struct Task {
  MaterializeJob job;
  std::vector<Entry> entries;
  std::unique_ptr<Staging> staging;
  std::size_t bytes = 0;
};

class ThreadMaterializer : public MaterializerBase {
 public:
  explicit ThreadMaterializer(RunDir run) : MaterializerBase(std::move(run)) {
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
    Task task;
    task.entries = sift(live, job.file);
    task.bytes = to_stage(task.entries, Copy::all);
    task.job = std::move(job);
    task.staging = staging_for(task.bytes);
    stage(task.entries, live, Copy::all, task.staging->require(task.bytes));
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      queue_.push_back(std::move(task));
    }
    changed_.notify_all();
    return "";
  } catch (const std::exception& problem) {
    return problem.what();
  }

  bool busy() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return held_ > 0;
  }

  bool full() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return !fits(last_bytes_);
  }

  void drain() override {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return held_ == 0; });
  }

 private:
  bool fits(std::size_t bytes) const {
    return held_ == 0 || (held_ < most_queued && held_bytes_ + bytes <= small_total);
  }

  // Waits until the copy may be made; takes memory that is warm where there is some.
  std::unique_ptr<Staging> staging_for(std::size_t bytes) {
    std::unique_lock<std::mutex> lock(mutex_);
    last_bytes_ = bytes;
    changed_.wait(lock, [&] { return fits(bytes); });
    held_ += 1;
    held_bytes_ += bytes;
    if (free_.empty()) return std::make_unique<Staging>();
    auto staging = std::move(free_.back());
    free_.pop_back();
    return staging;
  }

  void give_back(Task& task) {
    const std::lock_guard<std::mutex> lock(mutex_);
    held_ -= 1;
    held_bytes_ -= task.bytes;
    // What is kept warm is no more than what may be held.
    if (task.staging->size() > small_total) free_.clear();
    if (free_.empty() || free_.back()->size() <= small_total / most_queued)
      free_.push_back(std::move(task.staging));
  }

  void work() {
    lower_priority();
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      Task task = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      write(task);
      give_back(task);
      lock.lock();
      changed_.notify_all();
    }
  }

  void write(Task& task) {
    const Stopwatch watch;
    Materialized result;
    Image image;
    try {
      if (task.job.before) task.job.before();
      image = make_image(run_, task.job, std::move(task.entries));
      const Failure failure = write_file(image, output_);
      if (failure) result.error = text_of(failure, image);
    } catch (const std::exception& problem) {
      result.error = problem.what();
    }
    result.write = watch.elapsed();
    if (result.error.empty()) output_.took(result.write);
    result.processor = watch.processor();
    settle(task.job, image, std::move(result));
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> queue_;
  std::vector<std::unique_ptr<Staging>> free_;
  std::size_t held_ = 0, held_bytes_ = 0;  // checkpoints that are queued or being written
  std::size_t last_bytes_ = 0;
  bool stopping_ = false;
  DeepOutput output_;  // of the writer
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Materializer> make_thread_materializer(const RunDir& run) {
  return std::make_unique<ThreadMaterializer>(run);
}

}  // namespace flor::core
