#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "core/checkpoint.h"
#include "core/digest.h"
#include "core/durable.h"
#include "core/materializer.h"
#include "core/signals.h"

namespace flor::core {
namespace {

constexpr std::size_t capacity = 2;
constexpr std::size_t alignment = 64;
// Below this a reference costs about as much as the bytes.
constexpr std::size_t worth_sharing = 1024;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double thread_processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Memory that is mapped once and used again: the page faults of fresh memory cost more than the copy itself.
class Staging {
 public:
  ~Staging() { release(); }
  Staging() = default;
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  unsigned char* require(std::size_t bytes) {
    if (bytes > size_) {
      release();
      void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) throw std::bad_alloc();
      ::madvise(memory, bytes, MADV_HUGEPAGE);
      memory_ = memory;
      size_ = bytes;
    }
    return static_cast<unsigned char*>(memory_);
  }

 private:
  void release() {
    if (memory_ != nullptr) ::munmap(memory_, size_);
    memory_ = nullptr;
    size_ = 0;
  }
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

struct Copied {
  std::string name, dtype;
  std::vector<int64_t> shape;
  std::size_t bytes = 0, offset = 0;
};

struct Snapshot {
  MaterializeJob job;
  Staging staging;
  std::vector<Copied> buffers;
  std::size_t bytes = 0;
};

class ThreadMaterializer : public Materializer {
 public:
  explicit ThreadMaterializer(Tiers tiers) : tiers_(std::move(tiers)) {
    for (std::size_t i = 0; i < capacity; ++i) free_.push_back(std::make_unique<Snapshot>());
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

  std::string materialize(MaterializeJob job, const std::vector<Buffer>& live) override {
    std::unique_ptr<Snapshot> snapshot;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [&] { return !free_.empty(); });
      snapshot = std::move(free_.front());
      free_.pop_front();
    }
    std::string error;
    try {
      copy(live, *snapshot);
    } catch (const std::exception& problem) {
      error = problem.what();
    }
    snapshot->job = std::move(job);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (error.empty()) {
        queue_.push_back(std::move(snapshot));
      } else {
        free_.push_back(std::move(snapshot));
      }
    }
    changed_.notify_all();
    return error;
  }

  bool busy() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return free_.size() < capacity;
  }

  bool full() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return free_.empty();
  }

  void drain() override {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return free_.size() == capacity; });
  }

 private:
  static void copy(const std::vector<Buffer>& live, Snapshot& snapshot) {
    snapshot.buffers.clear();
    std::size_t offset = 0;
    for (const auto& buffer : live) {
      snapshot.buffers.push_back({buffer.name, buffer.dtype, buffer.shape, buffer.bytes, offset});
      offset += (buffer.bytes + alignment - 1) / alignment * alignment;
    }
    snapshot.bytes = offset;
    unsigned char* memory = snapshot.staging.require(std::max<std::size_t>(offset, 1));
    for (std::size_t i = 0; i < live.size(); ++i) live[i].copy_to(memory + snapshot.buffers[i].offset);
  }

  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      auto snapshot = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      Materialized result = write(*snapshot);
      snapshot->job.done(result);
      snapshot->job = {};
      lock.lock();
      free_.push_back(std::move(snapshot));
      changed_.notify_all();
    }
  }

  Materialized write(Snapshot& snapshot) {
    Materialized result;
    const double start = now();
    const double processor = thread_processor_time();
    try {
      if (snapshot.job.before) snapshot.job.before();
      write_file(snapshot, result);
    } catch (const std::exception& problem) {
      result.error = problem.what();
    }
    result.write = now() - start;
    result.processor = thread_processor_time() - processor;
    return result;
  }

  void write_file(Snapshot& snapshot, Materialized& result) {
    unsigned char* memory = snapshot.staging.require(1);
    CheckpointHeader header;
    header.run = tiers_.run().id();
    header.block = snapshot.job.block;
    header.at = snapshot.job.at;
    std::vector<const Copied*> own;
    std::unordered_map<std::string, std::string> fresh;  // digest → tensor of this file
    for (const auto& buffer : snapshot.buffers) {
      CheckpointTensor tensor;
      tensor.name = buffer.name;
      tensor.dtype = buffer.dtype;
      tensor.shape = buffer.shape;
      tensor.digest = digest_of(memory + buffer.offset, buffer.bytes);
      tensor.end = buffer.bytes;
      result.bytes += buffer.bytes;
      find_earlier(snapshot.job.file, fresh, buffer, tensor);
      if (tensor.file.empty()) own.push_back(&buffer);
      header.tensors.push_back(std::move(tensor));
    }
    const std::string head = encode_header(header);
    const auto write = [&](const fs::path& path) {
      DurableFile file(path);
      file.write(head.data(), head.size());
      for (const Copied* buffer : own) file.write(memory + buffer->offset, buffer->bytes);
      file.commit();
    };
    result.tier = tiers_.write(snapshot.job.file, head.size() + header.data_bytes, write);
    result.written = head.size() + header.data_bytes;
    result.state = header.state;
    for (const auto& [digest, tensor] : fresh) earlier_[digest] = {snapshot.job.file, tensor};
  }

  // Shares bytes with an earlier file, or an earlier tensor of this one (tied weights).
  void find_earlier(const std::string& file, std::unordered_map<std::string, std::string>& fresh,
                    const Copied& buffer, CheckpointTensor& tensor) const {
    if (buffer.bytes < worth_sharing) return;
    const std::string key = tensor.digest + std::to_string(buffer.bytes);
    if (auto known = earlier_.find(key); known != earlier_.end()) {
      tensor.file = known->second.first;
      tensor.tensor = known->second.second;
    } else if (auto [same, first] = fresh.emplace(key, tensor.name); !first) {
      tensor.file = file;
      tensor.tensor = same->second;
    }
  }

  Tiers tiers_;  // of the writer alone
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Snapshot>> free_, queue_;
  bool stopping_ = false;
  // Of the writer alone: digest and size → (file, tensor) of what lies durably in the run.
  std::unordered_map<std::string, std::pair<std::string, std::string>> earlier_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Materializer> make_thread_materializer(const Tiers& tiers) {
  return std::make_unique<ThreadMaterializer>(tiers);
}

}  // namespace flor::core
