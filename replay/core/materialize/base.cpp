#include "core/materialize/base.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <utility>

#include "core/base/full.h"
#include "core/files/durable.h"
#include "core/materialize/memory_watch.h"
#include "core/policy/retention.h"
#include "core/tier/room.h"

namespace flor::core {
namespace {

double read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

bool is_staged(const Entry& entry, bool all) {
  return entry.own() && (all || entry.bytes == nullptr);
}

}  // namespace

int PlainOutput::write(const void* bytes, std::size_t size, off_t offset) noexcept {
  return step::write(fd_, bytes, size, offset);
}

Stopwatch::Stopwatch()
    : elapsed_(read_clock(CLOCK_MONOTONIC)), processor_(read_clock(CLOCK_THREAD_CPUTIME_ID)) {}
double Stopwatch::elapsed() const {
  return read_clock(CLOCK_MONOTONIC) - elapsed_;
}
double Stopwatch::processor() const {
  return read_clock(CLOCK_THREAD_CPUTIME_ID) - processor_;
}

void lower_priority() {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), 10);
}

MaterializerBase::MaterializerBase(Tiers tiers) : tiers_(std::move(tiers)) {
  // Asked when the state is copied already.
  tiers_.measure_memory_by([] { return MemoryWatch::here().available(); });
}

std::vector<Entry> MaterializerBase::entries_for(const std::vector<Buffer>& live, const std::string& file) {
  return entries_of(live, unchanged_.find_unchanged(live, file), file);
}

std::size_t MaterializerBase::to_stage(const std::vector<Entry>& entries, Copy which) {
  std::size_t bytes = 0;
  for (const auto& entry : entries) bytes += is_staged(entry, which == Copy::all) ? entry.size : 0;
  return bytes;
}

void MaterializerBase::stage(std::vector<Entry>& entries, const std::vector<Buffer>& live, Copy which,
                             unsigned char* memory) {
  for (auto& entry : entries) {
    if (!is_staged(entry, which == Copy::all)) continue;
    live[entry.live].copy_to(memory);
    entry.bytes = memory;
    memory += entry.size;
  }
}

MaterializerBase::Fetches MaterializerBase::begin_to_stage(std::vector<Entry>& entries,
                                                           const std::vector<Buffer>& live,
                                                           unsigned char* memory) {
  Fetches fetches;
  std::vector<std::function<void()>> waits;
  for (auto& entry : entries) {
    if (!is_staged(entry, true)) continue;
    const Buffer& buffer = live[entry.live];
    std::optional<Snapshot> snapshot;
    if (buffer.snapshot) snapshot = buffer.snapshot();
    if (snapshot) {
      waits.push_back(std::move(snapshot->wait));
      fetches.push_back([fetch = std::move(snapshot->fetch), memory] { fetch(memory); });
    } else {
      buffer.copy_to(memory);
    }
    entry.bytes = memory;
    memory += entry.size;
  }
  for (const auto& wait : waits) wait();  // only now, so that all snapshots run at the same time
  return fetches;
}

void MaterializerBase::keep_failure(const std::function<void()>& work) noexcept {
  try {
    work();
  } catch (...) {
    const std::lock_guard<std::mutex> lock(failure_mutex_);
    failure_ = std::current_exception();
  }
}

void MaterializerBase::throw_failure() {
  std::exception_ptr failure;
  {
    const std::lock_guard<std::mutex> lock(failure_mutex_);
    failure = std::exchange(failure_, nullptr);
  }
  if (failure) std::rethrow_exception(failure);
}

std::string MaterializerBase::failed_with(const Failure& failure, Image& image) {
  image.failed = failure;
  return text_of(failure, image.targets.back());
}

void MaterializerBase::settle(const MaterializeJob& job, const Image& image, Materialized result) {
  result.bytes = image.bytes;
  if (image.refused) tiers_.refused(image.refused.error, text_of(image.refused, image.targets.front()));
  if (is_full(image.failed.error)) tiers_.store_was_full(image.file_size());
  if (result.error.empty()) {
    result.tier = image.targets[image.took].tier;
    if (result.tier == Tier::local) tiers_.accepted();
  }
  if (result.error.empty()) {
    result.state = image.text->state();
    result.written = image.file_size();
    result.refers_to = referred_files(image.header, image.file);
    for (const auto& entry : image.entries) {
      if (!entry.own() || !entry.hint || entry.size < Unchanged::worth_referring) continue;
      unchanged_.learn(*entry.hint, {std::string(entry.digest.data(), entry.digest.size()), image.file,
                                     entry.tensor.name});
    }
  }
  unchanged_.settled(job.file);
  job.done(result);
}

}  // namespace flor::core
