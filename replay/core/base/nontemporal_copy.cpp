#include "core/base/nontemporal_copy.h"

#include <sys/mman.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/clock.h"

namespace flor::core {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t pages = 2;
constexpr std::size_t source_bytes = std::size_t{256} << 10;
// Seconds a byte: the most that is returned, and what is returned if nothing can be measured.
constexpr double slowest = 10e-9, otherwise = 1e-9;

double seconds_to_fill(unsigned char* page, const std::vector<unsigned char>& source) {
  const double start = monotonic_seconds();
  for (std::size_t at = 0; at < huge_page; at += source.size()) {
    nontemporal_copy(page + at, source.data(), source.size());
  }
  return monotonic_seconds() - start;
}

double measure() {
  // One page more than is measured, so that the buffer can start at a huge page.
  constexpr std::size_t size = (pages + 1) * huge_page;
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return otherwise;
  // As staging memory does it.
  ::madvise(memory, size, MADV_HUGEPAGE);
  auto* first = static_cast<unsigned char*>(memory);
  first += (huge_page - reinterpret_cast<std::uintptr_t>(first) % huge_page) % huge_page;
  const std::vector<unsigned char> source(source_bytes, 1);
  // Takes the faster of the two pages: the other measurement may have been interrupted.
  double least = slowest * huge_page;
  for (std::size_t i = 0; i < pages; ++i) {
    // The first pass is not measured: page faults cost more than the copy.
    seconds_to_fill(first + i * huge_page, source);
    least = std::min(least, seconds_to_fill(first + i * huge_page, source));
  }
  ::munmap(memory, size);
  return least / huge_page;
}

}  // namespace

#ifdef __SSE2__

namespace {

// The size of a cache line. The processor reads a line from memory first unless it is written as a whole.
constexpr std::size_t line = 64;

}  // namespace

void nontemporal_copy(void* to, const void* from, std::size_t bytes) {
  auto* out = static_cast<unsigned char*>(to);
  const auto* in = static_cast<const unsigned char*>(from);
  const std::size_t head = std::min(bytes, (line - reinterpret_cast<std::uintptr_t>(out) % line) % line);
  std::memcpy(out, in, head);
  std::size_t at = head;
  for (; at + line <= bytes; at += line) {
    const auto* values = reinterpret_cast<const __m128i*>(in + at);
    const __m128i first = _mm_loadu_si128(values);
    const __m128i second = _mm_loadu_si128(values + 1);
    const __m128i third = _mm_loadu_si128(values + 2);
    const __m128i fourth = _mm_loadu_si128(values + 3);
    auto* places = reinterpret_cast<__m128i*>(out + at);
    _mm_stream_si128(places, first);
    _mm_stream_si128(places + 1, second);
    _mm_stream_si128(places + 2, third);
    _mm_stream_si128(places + 3, fourth);
  }
  // Streaming stores are not ordered with later ones, such as the release of a lock.
  _mm_sfence();
  std::memcpy(out + at, in + at, bytes - at);
}

#else

void nontemporal_copy(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

#endif

double copy_seconds_per_byte() {
  static const double measured = measure();
  return measured;
}

}  // namespace flor::core
