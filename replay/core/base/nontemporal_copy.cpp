#include "core/base/nontemporal_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace flor::core {

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

}  // namespace flor::core
