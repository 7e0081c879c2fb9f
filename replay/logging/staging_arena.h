// Memory for snapshots, reused: page faults of fresh memory cost more than the copy into it. The system
// provides pages when they are first used, never more than the limit.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

namespace flor::logging {

// Not thread-safe.
class StagingArena {
 public:
  // Reserves less, down to nothing, if the system has no room.
  explicit StagingArena(std::size_t limit);
  ~StagingArena();
  StagingArena(const StagingArena&) = delete;
  StagingArena& operator=(const StagingArena&) = delete;

  std::size_t limit() const { return limit_; }
  // Returns the offset of a free region, 64-byte aligned, the first that fits. Nothing if there is none now;
  // always nothing for more than the limit.
  std::optional<std::size_t> take(std::size_t bytes);
  void give_back(std::size_t offset) { taken_.erase(offset); }
  unsigned char* at(std::size_t offset) const { return memory_ + offset; }

 private:
  unsigned char* memory_ = nullptr;
  std::size_t limit_ = 0;
  // Offset → end.
  std::map<std::size_t, std::size_t> taken_;
};

}  // namespace flor::logging
