#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/materialize/base.h"
#include "core/materialize/deep_output.h"
#include "core/signals.h"

namespace flor::core {
namespace {

struct Task {
  MaterializeJob job;
  std::vector<Entry> entries;
};

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
    drain();  // the one copy is in use
    Task task;
    task.entries = sift(live, job.file);
    task.job = std::move(job);
    stage(task.entries, live, Copy::all, staging_.require(to_stage(task.entries, Copy::all)));
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      task_ = std::move(task);
    }
    changed_.notify_all();
    return "";
  } catch (const std::exception& problem) {
    return problem.what();
  }

  bool busy() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return task_.has_value();
  }
  bool full() const override { return busy(); }

  void drain() override {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return !task_; });
  }

 private:
  void work() {
    lower_priority();
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopping_ || task_; });
      if (!task_) return;
      lock.unlock();
      write(*task_);
      lock.lock();
      task_.reset();
      changed_.notify_all();
    }
  }

  void write(Task& task) {
    const Stopwatch watch;
    Materialized result;
    Image image;
    try {
      if (task.job.before) task.job.before();
      image = make_image(tiers_, task.job, std::move(task.entries));
      const Failure failure = write_file(image, output_);
      if (failure) result.error = text_of(failure, image.targets.back());
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
  std::optional<Task> task_;  // being written, from the staging memory
  Staging staging_;
  bool stopping_ = false;
  DeepOutput output_;  // of the writer
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Materializer> make_thread_materializer(const Tiers& tiers) {
  return std::make_unique<ThreadMaterializer>(tiers);
}

}  // namespace flor::core
