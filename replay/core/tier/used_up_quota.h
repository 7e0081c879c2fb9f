// Remembers that a quota was used up, and asks from time to time whether there is room again. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "core/base/clock.h"

namespace flor::core {

class UsedUpQuota {
 public:
  // Takes the seconds from `now`.
  explicit UsedUpQuota(std::function<double()> now = monotonic_seconds) : now_(std::move(now)) {}

  void note() { since_ = now_(); }

  // Tells whether so many bytes can be allocated in so many files of the directory (is_free() of
  // core/tier/room.h). True where no quota was used up. Where the file system cannot tell: true half an hour
  // after the note. To ask for so much takes what is left for a moment, in which the program's own file would
  // fail. So who was told no asks again 5 minutes later.
  bool leaves(const std::filesystem::path& directory, std::uint64_t bytes, int files);

 private:
  std::function<double()> now_;
  std::optional<double> since_;
  // When the file system last said that so much is not free.
  std::optional<double> told_no_;
};

}  // namespace flor::core
