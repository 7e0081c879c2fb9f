// A lock that other nodes see as well where locks hold on one node only: its file says who has it, and is
// touched once a minute. Workers and `flor replay` hold one each, so that `flor gc` leaves their run alone.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "core/store/store.h"

namespace flor::core {

// Its end says at once that it is over. A process that was killed counts as there for silence_counts_as_end
// on nodes that cannot see its lock.
class Presence {
 public:
  static constexpr std::chrono::milliseconds interval{60'000};
  static constexpr std::chrono::seconds silence_counts_as_end{600};

  // As FileLock has them. `interval`: for tests.
  static std::optional<Presence> try_take(const fs::path& path, std::chrono::milliseconds every = interval);
  static Presence take(const fs::path& path, std::chrono::milliseconds every = interval);

  Presence(Presence&&) noexcept;
  Presence& operator=(Presence&&) noexcept;
  ~Presence();

 private:
  class Beat;
  Presence(FileLock lock, const fs::path& path, std::chrono::milliseconds every);

  FileLock lock_;
  std::unique_ptr<Beat> beat_;
};

// May a process have the lock, on this node or another? True as well for a FileLock that is held.
bool may_be_present(const fs::path& lock);

}  // namespace flor::core
