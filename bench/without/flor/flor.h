// What the examples would have written without the library: the side that benchmarks compare with. Plain
// loops, blocks that execute, a print for a log; nothing of libflor is linked.
#pragma once

#include <cstdint>
#include <cstdio>
#include <utility>

namespace flor {

struct Volatile {};
inline constexpr Volatile is_volatile{};

class Range {
 public:
  explicit Range(int64_t count) : count_(count) {}
  class Iterator {
   public:
    explicit Iterator(int64_t value) : value_(value) {}
    int64_t operator*() const { return value_; }
    Iterator& operator++() {
      ++value_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return value_ != other.value_; }

   private:
    int64_t value_;
  };
  Iterator begin() const { return Iterator(0); }
  Iterator end() const { return Iterator(count_); }

 private:
  int64_t count_;
};

inline Range loop(const char*, int64_t count) {
  return Range(count);
}
template <class Loader>
Loader& loop(const char*, Loader& loader) {
  return loader;
}

class SkipBlock {
 public:
  template <class... T>
  explicit SkipBlock(const char*, T&...) {}
  ~SkipBlock() {}  // as the library's has one: no warning of an unused variable
  bool step_into() { return true; }
};

inline void log(const char* name, double value) {
  std::printf("%s=%.17g\n", name, value);
}
inline void log(const char* name, double value, Volatile) {
  log(name, value);
}

template <class T>
T arg(const char*, T fallback) {
  return fallback;
}

}  // namespace flor
