#include "logging/staging_arena.h"

#include <sys/mman.h>

#include <algorithm>

namespace flor::logging {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t most_regions = 4096;  // a queue of empty tensors has a bound, too

}  // namespace

StagingArena::StagingArena(std::size_t limit) {
  if (limit == 0) return;
  void* memory =
      ::mmap(nullptr, limit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  ::madvise(memory, limit, MADV_HUGEPAGE);
  memory_ = static_cast<unsigned char*>(memory);
  limit_ = limit;
}

StagingArena::~StagingArena() {
  if (memory_ != nullptr) ::munmap(memory_, limit_);
}

std::optional<std::size_t> StagingArena::take(std::size_t bytes) {
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  if (taken_.size() >= most_regions) return std::nullopt;
  std::size_t begin = 0;
  for (const auto& [offset, end] : taken_) {
    if (offset - begin >= size) break;
    begin = end;
  }
  if (size > limit_ - begin) return std::nullopt;
  taken_.emplace(begin, begin + size);
  return begin;
}

}  // namespace flor::logging
