// Spooling copies finished checkpoints from the local tier to the store. The files on disk alone tell what is
// left to do. So any process can continue where another was killed: the agent, the next agent, or the trainer
// itself at its end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/store/local_tier.h"

namespace flor::core {

// A finished file in the local tier.
struct WaitingFile {
  // Relative to the run directory, the same in both tiers.
  std::string file;
  std::uint64_t bytes = 0;
};

// Lists finished files, oldest first. Empty if the directory does not exist.
std::vector<WaitingFile> waiting_files(const LocalRun& local);
std::uint64_t bytes_of(const std::vector<WaitingFile>& files);

// Called after each step with the bytes that it wrote to the store, to limit the rate. Returns false to stop.
using Pace = std::function<bool(std::uint64_t bytes)>;

struct Spooled {
  // Files that are in the store now and no longer in the local tier.
  std::size_t files = 0;
  std::uint64_t bytes = 0;
  // One line for each file that could not be copied.
  std::vector<std::string> troubles;
  bool broken_off = false;
  // The store had no room for a file. The round ends there: it has none for the others.
  bool full = false;
};

enum class Which { all, newest };

struct SpoolOptions {
  Which which = Which::all;
  // Whether the program that records lives: then room in the store is left to it (core/tier/room.h).
  bool leave_room = true;
  // Whether the round before found the store full: then room is also looked for in this user's quota.
  bool was_full = false;
};

// Copies waiting files to the store, oldest first, but each after the files that it refers to; or the newest
// one alone, after those that it refers to. A file appears there durably or not at all. It is read again and
// compared before the local file is removed. A file that the store already has stays if it is equal, and is
// replaced if it differs.
//
// Hold local.lock() meanwhile to avoid double work; two at once do no harm. Throws only std::bad_alloc.
Spooled spool(const LocalRun& local, const Pace& pace, SpoolOptions options = {});

}  // namespace flor::core
