// A lock that other nodes can see even where locks hold on one node only. Its file says which process has it,
// and is touched once a minute. Each worker and each `flor replay` holds one, so that `flor gc` leaves their
// run alone.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "core/store/owner.h"
#include "core/store/store.h"

namespace flor::core {

// Destroying it shows all nodes at once that the process is done. Nodes that cannot see the lock count a
// killed process as present for silence_counts_as_end. Runs one thread.
class Presence {
 public:
  static constexpr std::chrono::milliseconds interval{60'000};
  static constexpr std::chrono::seconds silence_counts_as_end{600};

  // As FileLock::try_take() and take(). `every` is for tests.
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

// Returns the process that has the lock, as it describes itself; std::nullopt where none does, or where its
// description cannot be read (yet).
std::optional<Owner> present_process(const fs::path& lock);

// May a process on this or another node hold the lock? True also for a FileLock that is held.
bool may_be_present(const fs::path& lock);

}  // namespace flor::core
