// XXH3-128 digests (https://github.com/Cyan4973/xxHash). A store has no others.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace flor::core {

// Returns 32 lower-case hex digits, the canonical (big-endian) form of XXH3-128.
std::string digest_of(const void* bytes, std::size_t size);
inline std::string digest_of(std::string_view text) {
  return digest_of(text.data(), text.size());
}

// Writes the same 32 digits to `hex`, without a terminating zero. Allocates nothing.
void digest_to(char* hex, const void* bytes, std::size_t size) noexcept;

// Is `text` 32 lower-case hex digits?
bool is_digest(std::string_view text);

// Computes the same digest over bytes that arrive in parts. Not thread-safe.
class Digester {
 public:
  Digester();
  ~Digester();
  Digester(const Digester&) = delete;
  Digester& operator=(const Digester&) = delete;
  void add(const void* bytes, std::size_t size);
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flor::core
