// Memory for snapshots, used again and again: the page faults of fresh memory cost more than the copy into
// it. Pages are taken from the system when they are first used, never more than the limit.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

namespace flor::logging {

// Not thread-safe.
class StagingArena {
 public:
  explicit StagingArena(std::size_t limit);  // less, down to nothing, where the system has no room
  ~StagingArena();
  StagingArena(const StagingArena&) = delete;
  StagingArena& operator=(const StagingArena&) = delete;

  std::size_t limit() const { return limit_; }
  // A region of so many bytes, 64-byte aligned, as far in front as there is room; nothing where there is none
  // now. More than the limit never has.
  std::optional<std::size_t> take(std::size_t bytes);
  void give_back(std::size_t offset) { taken_.erase(offset); }
  unsigned char* at(std::size_t offset) const { return memory_ + offset; }

 private:
  unsigned char* memory_ = nullptr;
  std::size_t limit_ = 0;
  std::map<std::size_t, std::size_t> taken_;  // offset → end
};

}  // namespace flor::logging
