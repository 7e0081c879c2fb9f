#include "core/materialize/memory_watch.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>

#include "core/base/blocked_signals.h"

namespace flor::core {
namespace {

std::size_t less(std::size_t from, std::size_t what) {
  return from - std::min(from, what);
}

std::size_t left_of_addresses(std::size_t taken) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited_memory;
  return less(limit.rlim_cur, taken);
}

}  // namespace

MemoryWatch& MemoryWatch::here() {
  // Never destroyed: where a program ends by exit(), threads still look.
  static MemoryWatch& watch = *std::make_unique<MemoryWatch>().release();
  return watch;
}

std::size_t MemoryWatch::available() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const MemoryReading now = look_locked();
  const std::size_t own = less(peak_, less(now.now, held_));
  std::size_t least = unlimited_memory;
  for (const auto& group : now.groups) {
    // A group without a limit may be that of many jobs.
    if (group.limit == unlimited_memory) continue;
    const std::size_t again = std::max(own, less(peaks_[group.path], less(group.needed, held_)));
    least = std::min(least, less(less(group.limit, group.needed), again));
  }
  if (least == unlimited_memory && task_ != unlimited_memory)
    least = less(task_, std::max(now.now + now.files, peak_with_files_));
  least = std::min(least, less(now.machine, own));
  return std::min(least, left_of_addresses(addresses_ + held_));
}

// Where a copy stays, the peak of the process counts it, and with that a copy has to fit beside what is left.
bool MemoryWatch::is_plentiful(std::size_t bytes) noexcept try {
  return available() / 5 >= bytes;
} catch (const std::exception&) {
  return false;  // out of memory
}

void MemoryWatch::copy_begins(std::size_t bytes) noexcept try {
  const std::lock_guard<std::mutex> lock(mutex_);
  look_locked();
  held_ += bytes;
  most_held_ = std::max(most_held_, held_);
} catch (const std::exception&) {
  // Out of memory: the peak is taken from the next look.
}

void MemoryWatch::copy_ends(std::size_t bytes) noexcept try {
  const std::lock_guard<std::mutex> lock(mutex_);
  const MemoryReading now = look_locked();
  held_ = less(held_, bytes);
  if (held_ > 0 || !reset_peak()) return;
  most_held_ = 0;
  files_ = now.files;
} catch (const std::exception&) {
}

void MemoryWatch::maps(std::size_t from, std::size_t to) noexcept try {
  const std::lock_guard<std::mutex> lock(mutex_);
  // What training has taken so far is known from before. Nobody can reset VmPeak.
  if (to > from) look_locked();
  mapped_ = less(mapped_ + to, from);
  most_mapped_ = std::max(most_mapped_, mapped_);
} catch (const std::exception&) {
}

void MemoryWatch::look() {
  const std::lock_guard<std::mutex> lock(mutex_);
  look_locked();
}

MemoryReading MemoryWatch::look_locked() {
  MemoryReading now = read_memory(root_);
  // Where the peak cannot be reset, it is training's for ever: rather too much than too little.
  const std::size_t peak = held_ == 0 && most_held_ > 0 ? now.peak : less(now.peak, most_held_);
  peak_with_files_ = std::max(peak_with_files_, peak);
  // Nobody knows how much of the peak were files. What training has now is surely its own.
  files_ = std::max(files_, now.files);
  peak_ = std::max({peak_, less(peak, files_), less(now.now, held_)});
  addresses_ = std::max({addresses_, less(now.most_addresses, most_mapped_), less(now.addresses, mapped_)});
  for (const auto& group : now.groups) {
    std::size_t& peak = peaks_[group.path];
    peak = std::max(peak, less(group.needed, held_));
  }
  return now;
}

// As proc(5) says of clear_refs.
bool MemoryWatch::reset_peak() const noexcept {
  std::ofstream out(root_ / "proc/self/clear_refs");
  out << 5 << std::flush;
  return static_cast<bool>(out);
}

MemoryLooks::MemoryLooks(MemoryWatch& watch) {
  const BlockedSignals blocked;
  thread_ = std::thread([this, &watch] {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto began = std::chrono::steady_clock::now();
    std::chrono::milliseconds pause{100};
    while (!stop_.wait_for(lock, pause, [this] { return stopping_; })) {
      if (std::chrono::steady_clock::now() - began > std::chrono::seconds(10))
        pause = std::chrono::seconds(1);
      try {
        watch.look();
      } catch (const std::exception&) {  // out of memory: the next look may do
      }
    }
  });
}

MemoryLooks::~MemoryLooks() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace flor::core
