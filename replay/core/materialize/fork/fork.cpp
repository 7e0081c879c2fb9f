// The materializers `fork` and `fork-batch`: child processes write the checkpoints, and one thread waits for
// them.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/blocked_signals.h"
#include "core/materialize/base.h"
#include "core/materialize/fork/child.h"
#include "core/materialize/fork/shared_mappings.h"
#include "core/process/above_streams.h"

namespace flor::core {
namespace {

struct Written {
  bool done = false;
  Failure failure, refused;
  std::size_t took = 0;
  double elapsed = 0, processor = 0;
};

struct Task {
  MaterializeJob job;
  Image image;
};

// A pipe. A byte of 1 in it allows the child to rename a file that it wrote, a byte of 0 forbids it.
// Motivation: the log must be durable before the checkpoint that covers it appears, and only this process can
// make it so. The child writes meanwhile. Closing the pipe forbids it, too, but tells the child only where no
// other child of the program has the pipe.
class Gate {
 public:
  Gate() {
    if (!pipe_above_streams(ends_))
      throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  }
  ~Gate() {
    close_entry();
    if (ends_[1] >= 0) ::close(ends_[1]);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  int entry() const { return ends_[0]; }
  void close_entry() {
    if (ends_[0] >= 0) ::close(std::exchange(ends_[0], -1));
  }
  void open(std::size_t files) { answer(files, 1); }
  void refuse(std::size_t files) { answer(files, 0); }

 private:
  void answer(std::size_t files, char byte) {
    const std::string bytes(files, byte);
    // Ignored: a child that is gone needs no byte.
    (void)!::write(ends_[1], bytes.data(), bytes.size());
  }

  int ends_[2] = {-1, -1};
};

// The work of one child, and its report in shared memory: a Written for each image, then the digests of its
// entries (32 bytes each) and of its state. Shared memory, because the child must not allocate and has no
// other channel that works after it was killed.
struct Batch {
  std::vector<Task> tasks;
  Gate gate;
  std::optional<SharedMemory> report;
  pid_t child = 0;

  Written* written() { return static_cast<Written*>(report->data()); }
  char* digests() { return reinterpret_cast<char*>(written() + tasks.size()); }
  std::size_t report_bytes() const {
    std::size_t digests = 0;
    for (const auto& task : tasks) digests += task.image.entries.size();
    return tasks.size() * sizeof(Written) + digests * 32;
  }
};

// Runs in the child. It must not allocate or lock: at the moment of the fork another thread of the program
// may have held the lock of malloc.
void write_batch(void* argument) noexcept {
  auto& batch = *static_cast<Batch*>(argument);
  Written* written = batch.written();
  char* digests = batch.digests();
  for (auto& task : batch.tasks) {
    const Stopwatch watch;
    PlainOutput output;
    written->failure = write_file(task.image, output);
    written->refused = task.image.refused;
    written->took = task.image.took;
    for (const auto& entry : task.image.entries) {
      std::memcpy(digests, entry.digest.data(), 32);
      digests += 32;
    }
    written->elapsed = watch.elapsed();
    written->processor = watch.processor();
    written->done = true;
    ++written;
  }
}

class Children : public MaterializerBase {
 public:
  explicit Children(Tiers tiers) : MaterializerBase(std::move(tiers)) {
    // The new thread must not get the program's signals.
    const BlockedSignals blocked;
    thread_ = std::thread([this] { work(); });
  }

  ~Children() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  bool busy() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return running_ != nullptr;
  }

 protected:
  void wait_for_running() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return running_ == nullptr; });
  }

  // Starts a child with these tasks and takes them. Leaves them if it throws.
  void start(std::vector<Task>& tasks) {
    auto batch = std::make_unique<Batch>();
    batch->tasks.swap(tasks);
    try {
      batch->report.emplace(batch->report_bytes());
      for (auto& task : batch->tasks) task.image.gate = batch->gate.entry();
      batch->child = spawn_child(write_batch, batch.get(), batch->gate.entry());
    } catch (...) {
      batch->tasks.swap(tasks);
      staging_.give_back();  // no caller tries these tasks again
      throw;
    }
    // Only the child reads the gate.
    batch->gate.close_entry();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      running_ = std::move(batch);
    }
    changed_.notify_all();
  }

  // The child reads it. For the waiting thread while a batch is running; else for the training thread.
  Staging staging_{InChildren::kept};

 private:
  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopping_ || running_ != nullptr; });
      if (running_ == nullptr) return;
      Batch& batch = *running_;
      lock.unlock();
      keep_failure([&] { finish(batch); });
      lock.lock();
      running_.reset();
      changed_.notify_all();
    }
  }

  // Order matters: make durable what must come first, then open the gate, then wait. settle() ignores the
  // digests after a failure.
  void finish(Batch& batch) {
    std::string refused;
    try {
      if (batch.tasks.back().job.before) batch.tasks.back().job.before();
      batch.gate.open(batch.tasks.size());
    } catch (const std::exception& problem) {
      refused = problem.what();
      batch.gate.refuse(batch.tasks.size());
    }
    const bool whole = wait_for_child(batch.child);
    staging_.give_back();  // while the batch is there, so that nothing is copied into it meanwhile
    const Written* written = batch.written();
    const char* digests = batch.digests();
    for (auto& task : batch.tasks) {
      for (auto& entry : task.image.entries) {
        std::memcpy(entry.digest.data(), digests, 32);
        digests += 32;
      }
      settle(task.job, task.image, result_of(*written++, task.image, refused, whole));
    }
  }

  // Makes the result of a task. Completes the header again with the child's digests, because the child
  // completed only its own copy of the image.
  static Materialized result_of(const Written& written, Image& image, const std::string& refused,
                                bool whole) {
    Materialized result;
    if (!refused.empty()) {
      result.error = refused;
    } else if (!written.done) {
      result.error = whole ? "it was not written" : "the process that wrote it was killed";
    } else if (written.failure) {
      result.error = failed_with(written.failure, image);
    } else {
      complete(image);
    }
    image.refused = written.refused;
    image.took = written.took;
    result.write = written.elapsed;
    result.processor = written.processor;
    return result;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<Batch> running_;
  bool stopping_ = false;
  std::thread thread_;
};

class ForkMaterializer : public Children {
 public:
  explicit ForkMaterializer(Tiers tiers) : Children(std::move(tiers)) {}
  ~ForkMaterializer() override { wait_for_running(); }

  std::string materialize(MaterializeJob job, const std::vector<Buffer>& live) override try {
    // One child at a time. Two would double the memory that copy-on-write can take.
    wait_for_running();
    auto entries = entries_for(live, job.file);
    copy_what_is_shared(entries);
    stage(entries, live, Copy::device, staging_.require(to_stage(entries, Copy::device)));
    std::vector<Task> tasks(1);
    tasks[0].image = make_image(tiers_, job, std::move(entries));
    tasks[0].job = job;
    start(tasks);
    return "";
  } catch (const std::exception& problem) {
    if (!busy()) staging_.give_back();
    unchanged_.settled(job.file);
    return problem.what();
  }

  void drain() override { wait_for_running(); }

 private:
  // A fork does not copy shared mappings: the program would go on writing them while the child reads. So
  // these bytes are copied before the fork.
  static void copy_what_is_shared(std::vector<Entry>& entries) {
    const SharedMappings shared;
    for (auto& entry : entries)
      if (entry.own() && shared.hold(entry.bytes, entry.size)) entry.bytes = nullptr;
  }
};

class ForkBatchMaterializer : public Children {
 public:
  ForkBatchMaterializer(Tiers tiers, std::size_t batch_bytes)
      : Children(std::move(tiers)), batch_bytes_(batch_bytes) {}
  ~ForkBatchMaterializer() override { drain(); }

  std::string materialize(MaterializeJob job, const std::vector<Buffer>& live) override try {
    auto entries = entries_for(live, job.file);
    const std::size_t bytes = to_stage(entries, Copy::all);
    if (!tasks_.empty() && used_ + bytes > batch_bytes_) flush();
    if (tasks_.empty()) wait_for_running();  // the child may still read the buffer
    unsigned char* memory = staging_.require(std::max(bytes, batch_bytes_)) + used_;
    stage(entries, live, Copy::all, memory);
    Task task;
    task.image = make_image(tiers_, job, std::move(entries));
    task.job = job;
    tasks_.push_back(std::move(task));
    used_ += (bytes + 63) / 64 * 64;
    if (used_ >= batch_bytes_) flush();
    return "";
  } catch (const std::exception& problem) {
    unchanged_.settled(job.file);
    return problem.what();
  }

  // If the bytes do not fit, the batch must be written first, by a child that still needs the buffer.
  bool ready(std::size_t bytes, double) override {
    if (tasks_.empty()) return !busy();
    if (used_ + bytes <= batch_bytes_) return true;
    if (!busy()) flush();
    return false;
  }

  void drain() override {
    flush();
    wait_for_running();
  }

 private:
  void flush() {
    if (tasks_.empty()) return;
    wait_for_running();
    std::vector<Task> tasks;
    tasks.swap(tasks_);
    used_ = 0;
    try {
      start(tasks);
    } catch (const std::exception& problem) {
      for (auto& task : tasks) {
        Materialized result;
        result.error = problem.what();
        settle(task.job, task.image, std::move(result));
      }
    }
  }

  const std::size_t batch_bytes_;
  std::size_t used_ = 0;
  std::vector<Task> tasks_;
};

}  // namespace

std::unique_ptr<Materializer> make_fork_materializer(const Tiers& tiers) {
  return std::make_unique<ForkMaterializer>(tiers);
}

std::unique_ptr<Materializer> make_fork_batch_materializer(const Tiers& tiers, std::size_t batch_bytes) {
  return std::make_unique<ForkBatchMaterializer>(tiers, batch_bytes);
}

}  // namespace flor::core
