// flor::loop: a loop that can be recorded and replayed. Outside flor it is a plain range.
#pragma once

#include <cstdint>
#include <exception>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "flor/archive.h"

namespace flor {
namespace detail {

// One execution of a loop, from its entry to its end, however it ends.
class FLOR_API LoopRun {
 public:
  // With `range` counts from `begin` to `end` - 1. Otherwise counts the elements of a container from 0; `end`
  // is then its size, or -1 if that is unknown.
  LoopRun(const std::string& name, bool range, int64_t begin, int64_t end);
  ~LoopRun();
  LoopRun(const LoopRun&) = delete;
  LoopRun& operator=(const LoopRun&) = delete;

  // Ends the present iteration. Returns the value to execute next, or std::nullopt at the end. A replay may
  // skip values, and end early. `at_end`: the container has no further element.
  std::optional<int64_t> next(bool at_end = false);
  // Begins the iteration with this value.
  void begin(int64_t value);
  // Notes that the loop came to its end by itself, not by break or an exception.
  void exhausted() { exhausted_ = true; }

  // --- For containers that take part in the loop over them: samplers (flor/sampler.h). ---

  // Unique on its thread.
  int64_t id() const { return id_; }
  // While begin() of a container is being called, returns the loop over it; otherwise nullptr.
  static LoopRun* beginning();
  // Sets the position of the first element that the container will yield.
  void begins_at(int64_t position) { begins_at_ = position; }
  // Returns the position behind the iteration that the loop `id` of this thread began last; before the first
  // one its begins_at(); -1 if no such loop runs.
  static int64_t ended_in(int64_t id);
  // Returns what `begin` returns, a function that calls the container's begin(). beginning() returns this
  // loop meanwhile.
  template <class Begin>
  auto begin_of(Begin begin) {
    const Beginning here(*this);
    return begin();
  }
  int64_t begins_at() const { return begins_at_; }

 private:
  class FLOR_API Beginning {
   public:
    explicit Beginning(LoopRun& run);
    ~Beginning();
    Beginning(const Beginning&) = delete;
    Beginning& operator=(const Beginning&) = delete;

   private:
    LoopRun* const outer_;
  };

  const bool range_;
  const int64_t begin_, end_;
  int64_t value_;
  const int64_t id_;
  int64_t begins_at_ = 0;
  bool started_ = false, begun_ = false, exhausted_ = false;
  const int exceptions_;
};

class RangeLoop {
 public:
  RangeLoop(const std::string& name, int64_t begin, int64_t end) : run_(name, true, begin, end) {}

  struct Sentinel {};
  class Iterator {
   public:
    explicit Iterator(LoopRun& run) : run_(run) { ++*this; }
    int64_t operator*() const { return *value_; }
    Iterator& operator++() {
      value_ = run_.next();
      if (value_) {
        run_.begin(*value_);
      } else {
        run_.exhausted();
      }
      return *this;
    }
    bool operator!=(Sentinel) const { return value_.has_value(); }

   private:
    LoopRun& run_;
    std::optional<int64_t> value_;
  };
  Iterator begin() { return Iterator(run_); }
  Sentinel end() const { return {}; }

 private:
  LoopRun run_;
};

// A loop over anything with begin() and end(): containers, data loaders. A replay skips elements by ++.
template <class Container>
class ContainerLoop {
 public:
  ContainerLoop(const std::string& name, Container&& container, int64_t size)
      : container_(std::forward<Container>(container)), run_(name, false, 0, size) {}

  struct Sentinel {};
  class Iterator {
   public:
    explicit Iterator(ContainerLoop& loop)
        : loop_(loop),
          at_(loop.run_.begin_of([&] { return std::begin(loop.container_); })),
          end_(std::end(loop.container_)) {
      advance_to(loop_.run_.next(!(at_ != end_)), loop_.run_.begins_at());
    }
    decltype(auto) operator*() { return *at_; }
    Iterator& operator++() {
      ++at_;
      advance_to(loop_.run_.next(!(at_ != end_)), index_ + 1);
      return *this;
    }
    bool operator!=(Sentinel) const { return !over_; }

   private:
    void advance_to(std::optional<int64_t> wanted, int64_t here) {
      index_ = here;
      while (wanted && at_ != end_ && index_ < *wanted) {
        ++at_;
        ++index_;
      }
      over_ = !wanted || !(at_ != end_);
      if (over_) {
        loop_.run_.exhausted();
      } else {
        loop_.run_.begin(index_);
      }
    }
    ContainerLoop& loop_;
    decltype(std::begin(std::declval<std::remove_reference_t<Container>&>())) at_;
    decltype(std::end(std::declval<std::remove_reference_t<Container>&>())) end_;
    int64_t index_ = 0;
    bool over_ = false;
  };
  Iterator begin() { return Iterator(*this); }
  Sentinel end() const { return {}; }

 private:
  // `Container` is T& if the loop got an lvalue.
  Container container_;
  LoopRun run_;
};

template <class T, class = void>
struct has_size : std::false_type {};
template <class T>
struct has_size<T, std::void_t<decltype(std::declval<T&>().size())>>
    : std::is_integral<decltype(std::declval<T&>().size())> {};

}  // namespace detail

// for (int64_t epoch : flor::loop("epoch", epochs)): 0 … count-1. The main loop of a program is the outermost
// loop that took longest. An outermost loop lies in no other flor::loop, and in no block; one that runs twice
// counts as two. A replay divides the main loop's iterations among workers, and `flor replay --epochs`
// selects iterations of it. It gives no rows of outermost loops in front of the main one; where a guard
// lives, it restores their ends.
inline detail::RangeLoop loop(const std::string& name, int64_t count) {
  return {name, 0, count};
}

// A loop over begin … end-1.
inline detail::RangeLoop loop(const std::string& name, int64_t begin, int64_t end) {
  return {name, begin, end};
}

// for (auto& batch : flor::loop("step", *loader)): over a container or data loader. `batch` is the element;
// rows have its position, from 0, in the column `step`. Takes a named container by reference: it must outlive
// the loop. Moves a temporary in.
template <class Container,
          class = std::enable_if_t<!std::is_arithmetic_v<std::remove_reference_t<Container>>>>
detail::ContainerLoop<Container> loop(const std::string& name, Container&& container) {
  int64_t size = -1;
  if constexpr (detail::has_size<std::remove_reference_t<Container>>::value)
    size = static_cast<int64_t>(container.size());
  return {name, std::forward<Container>(container), size};
}

}  // namespace flor
