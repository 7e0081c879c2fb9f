// Preloaded into both sides of a comparison (`overhead.py --scatter`): blocks of the heap of a page and more
// lie at distances that are drawn anew in each process. Motivation: into which holes of the heap tensors fit
// decides by a percent or two how fast some programs are, and the few small blocks that a library allocates
// in front of them change that, for better or worse. Left alone, one layout is measured against one other,
// and their difference shows in every pair; drawn anew, it is noise, and the interval says how much. After
// Curtsinger and Berger, STABILIZER, ASPLOS 2013.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t line = 64;

std::uint64_t seed() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_nsec) ^ static_cast<std::uint64_t>(getpid()) << 32;
}

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014); any thread may draw.
std::uint64_t draw() {
  static std::atomic<std::uint64_t> state{seed()};
  std::uint64_t bits = state.fetch_add(0x9e3779b97f4a7c15, std::memory_order_relaxed);
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return bits ^ bits >> 31;
}

}  // namespace

// LibTorch takes its tensors' memory from here. A block's own place is the allocator's; its length moves the
// next one.
extern "C" int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  using Function = int (*)(void**, std::size_t, std::size_t);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "posix_memalign"));
  if (bytes >= page) bytes += draw() % (page / line) * line;
  return real(block, alignment, bytes);
}
