// Spooling: finished checkpoints go from the local tier to the store. What there is to do is told by what
// lies on disk alone, so that any process can go on where another was killed: the agent, the next agent, or
// the trainer itself at its end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/store/local_tier.h"

namespace flor::core {

// A finished file in the local tier.
struct WaitingFile {
  std::string file;  // relative to the run's directory, the same in both tiers
  std::uint64_t bytes = 0;
};

// Oldest first. None where the directory does not exist.
std::vector<WaitingFile> waiting_files(const LocalRun& local);
std::uint64_t bytes_of(const std::vector<WaitingFile>& files);

// Called behind each step with the bytes that it wrote to the store, to keep to a rate. False: break off now.
using Pace = std::function<bool(std::uint64_t bytes)>;

struct Spooled {
  std::size_t files = 0;  // that are in the store now and no longer in the local tier
  std::uint64_t bytes = 0;
  std::vector<std::string> troubles;  // one line for each file that could not be brought
  bool broken_off = false;
};

// Brings what waits to the store, oldest first, but none in front of the files that it refers to. Each
// appears there by the whole durable chain, and what was written is read again and compared; only behind
// that is the local file removed. A file that is there already is compared and kept.
//
// Hold local.lock() meanwhile, to do no work twice; two at it at once do no harm. Throws nothing but
// std::bad_alloc.
Spooled spool(const LocalRun& local, const Pace& pace);

}  // namespace flor::core
