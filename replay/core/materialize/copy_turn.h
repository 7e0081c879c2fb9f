// Recordings of one user on a node copy large states one after another. Motivation: programs that are started
// together in one job reach the ends of their epochs together. Each would find the same memory free, and take
// a third of it.
#pragma once

#include <filesystem>
#include <optional>
#include <utility>

#include "core/files/file_lock.h"

namespace flor::core {

// Holds the turn for its lifetime.
class CopyTurn {
 public:
  explicit CopyTurn(std::optional<FileLock> lock) : lock_(std::move(lock)) {}

 private:
  std::optional<FileLock> lock_;
};

// Waits at most a second. Returns std::nullopt where other recordings had the turn all that time. Where no
// lock can be had, as the directory cannot be written, each recording has a turn. `folder` is where this
// user's directory lies.
std::optional<CopyTurn> take_copy_turn(const std::filesystem::path& folder = "/tmp");

}  // namespace flor::core
