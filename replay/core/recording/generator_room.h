// The room that the states of random number generators leave on the disk to what the program itself writes.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <utility>

#include "core/tier/used_up_quota.h"

namespace flor::core {

class GeneratorRoom {
 public:
  // Counts what an earlier attempt left in generators.jsonl of this directory as soon as something is
  // written.
  explicit GeneratorRoom(std::filesystem::path directory) : directory_(std::move(directory)) {}

  // Is there no room for states that no replay needs? They may take a quarter of what is free. Never waits.
  bool is_short() const { return is_short_; }

  // These look at the file system, which may wait for a file server. Must not throw.
  //
  // So many bytes are about to be written. Looks at the first of them, and once in a MiB.
  void wrote(std::size_t bytes) noexcept;
  // Looks whether there is room again, where it was short.
  void look_again() noexcept;

  // The disk was full, or a quota used up. Does not look.
  void refused() noexcept;

 private:
  void look() noexcept;

  const std::filesystem::path directory_;
  std::atomic<bool> is_short_{false};
  // Guards what follows.
  std::mutex mutex_;
  std::uint64_t written_ = 0;
  // What was written when it looked last.
  std::uint64_t looked_at_ = 0;
  bool has_looked_ = false;
  UsedUpQuota quota_;
};

}  // namespace flor::core
