#include "core/base/digest.h"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace flor::core {
namespace {

void to_hex(char* hex, XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  static constexpr char digits[] = "0123456789abcdef";
  for (unsigned char byte : canonical.digest) {
    *hex++ = digits[byte >> 4];
    *hex++ = digits[byte & 15];
  }
}

std::string to_hex(XXH128_hash_t hash) {
  std::string text(32, '0');
  to_hex(text.data(), hash);
  return text;
}

}  // namespace

std::string digest_of(const void* bytes, std::size_t size) {
  return to_hex(XXH3_128bits(bytes, size));
}

void digest_to(char* hex, const void* bytes, std::size_t size) noexcept {
  to_hex(hex, XXH3_128bits(bytes, size));
}

bool is_digest(std::string_view text) {
  return text.size() == 32 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

struct Digester::State {
  alignas(64) XXH3_state_t xxh;
};

Digester::Digester() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->xxh);
}
Digester::~Digester() = default;
void Digester::add(const void* bytes, std::size_t size) {
  XXH3_128bits_update(&state_->xxh, bytes, size);
}
std::string Digester::hex() const {
  return to_hex(XXH3_128bits_digest(&state_->xxh));
}

}  // namespace flor::core
