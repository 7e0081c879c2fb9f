// A stand-in for flor's public header, on the small front end of tests/rules: the same names, over the types
// of nn.h. Light enough that an edited program compiles within a second.
#pragma once

#include <frontend.h>
#include <nn.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace flor {

// Collects the variables of an object, by reference.
class Archive {
 public:
  template <class T>
  void operator()(const std::string& name, T& member);
  void add(rules::Ref ref) { refs_.push_back(ref); }
  rules::Refs take() { return std::move(refs_); }

 private:
  rules::Refs refs_;
};

namespace detail {

void walk_module(Archive& archive, torch::nn::Module& module);
void walk_optimizer(Archive& archive, torch::optim::SGD& optimizer);

template <class T, class = void>
struct has_hook : std::false_type {};
template <class T>
struct has_hook<T, std::void_t<decltype(flor_state(std::declval<Archive&>(), std::declval<T&>()))>>
    : std::true_type {};

template <class T>
void walk(Archive& archive, T& object) {
  if constexpr (has_hook<T>::value) {
    flor_state(archive, object);
  } else if constexpr (std::is_base_of_v<torch::nn::Module, T>) {
    walk_module(archive, object);
  } else if constexpr (std::is_same_v<torch::optim::SGD, T>) {
    walk_optimizer(archive, object);
  } else if constexpr (std::is_same_v<torch::optim::StepLR, T>) {
    archive.add(object.count());
  } else if constexpr (std::is_same_v<torch::Tensor, T>) {
    archive.add(object.stored());
  } else {
    archive.add(object);
  }
}

template <class T>
void walk(Archive& archive, std::shared_ptr<T>& object) {
  walk(archive, *object);
}

template <class... T>
rules::Refs refs_of(T&... objects) {
  Archive archive;
  (walk(archive, objects), ...);
  return archive.take();
}

// for (auto value : loop): over numbers, or over the elements of a container.
template <class Element>
class Range {
 public:
  Range(const std::string& name, int64_t begin, int64_t end) : run_(name, begin, end) {}
  Range(const std::string& name, std::vector<Element>& container)
      : run_(rules::Loop::over(name, static_cast<int64_t>(container.size()))), container_(&container) {}

  struct Sentinel {};
  class Iterator {
   public:
    explicit Iterator(Range& range) : range_(&range), more_(range.run_.next()) {}
    decltype(auto) operator*() const {
      if constexpr (std::is_same_v<Element, int64_t>) {
        return *range_->run_;
      } else {
        return (*range_->container_)[static_cast<std::size_t>(*range_->run_)];
      }
    }
    Iterator& operator++() {
      more_ = range_->run_.next();
      return *this;
    }
    bool operator!=(Sentinel) const { return more_; }

   private:
    Range* range_;
    bool more_;
  };
  Iterator begin() { return Iterator(*this); }
  Sentinel end() const { return {}; }

 private:
  rules::Loop run_;
  std::vector<Element>* container_ = nullptr;
};

double number_of(const std::string& text);

}  // namespace detail

template <class T>
void Archive::operator()(const std::string& /*name*/, T& member) {
  detail::walk(*this, member);
}

inline detail::Range<int64_t> loop(const std::string& name, int64_t count) {
  return {name, 0, count};
}
inline detail::Range<int64_t> loop(const std::string& name, int64_t begin, int64_t end) {
  return {name, begin, end};
}
template <class Element>
detail::Range<Element> loop(const std::string& name, std::vector<Element>& container) {
  return {name, container};
}

class SkipBlock {
 public:
  template <class... T>
  explicit SkipBlock(const std::string& name, T&... objects) : block_(name, detail::refs_of(objects...)) {}
  bool step_into() { return block_.step_into(); }

 private:
  rules::SkipBlock block_;
};

class Checkpointing {
 public:
  explicit Checkpointing(rules::Refs objects) : guard_(std::move(objects)) {}

 private:
  rules::Guard guard_;
};

template <class... T>
[[nodiscard]] Checkpointing checkpointing(T&... objects) {
  return Checkpointing(detail::refs_of(objects...));
}

struct Volatile {};
inline constexpr Volatile is_volatile{};

template <class T>
void log(const std::string& name, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    rules::log_truth(name, value);
  } else if constexpr (std::is_floating_point_v<T>) {
    rules::log(name, value);
  } else if constexpr (std::is_integral_v<T>) {
    rules::log_integer(name, static_cast<int64_t>(value));
  } else if constexpr (std::is_same_v<T, torch::Tensor>) {
    rules::log(name, value.template item<double>());
  } else {
    rules::log_text(name, value);
  }
}
template <class T>
void log(const std::string& name, const T& value, Volatile) {
  rules::log(name, static_cast<double>(value), true);
}

template <class T>
T arg(const std::string& name, const T& fallback) {
  return static_cast<T>(detail::number_of(rules::argument(name, std::to_string(fallback))));
}
inline std::string arg(const std::string& name, const char* fallback) {
  return rules::argument(name, fallback);
}

inline bool recording() {
  return rules::recording();
}
inline bool replaying() {
  return rules::replaying();
}

}  // namespace flor

// The name of this translation unit, kept in the program, as the public header does.
namespace {
// NOLINTNEXTLINE(misc-definitions-in-headers)
__attribute__((used, section("flor_sources"))) const char flor_translation_unit[] = __BASE_FILE__;
}  // namespace
