// The member names after a variable, as `part.size` in `object.part.size`. Rarely more than a few.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace flor::probes {

// A list of names (their numbers in a Model) with the interface of a vector. The first few need no heap
// memory: access paths are copied by the million.
class Fields {
 public:
  Fields() = default;
  Fields(std::initializer_list<int> names) { insert(end(), names.begin(), names.end()); }
  Fields(const Fields& other)
      : size_(other.size_),
        few_(other.few_),
        many_(other.many_ ? std::make_unique<std::vector<int>>(*other.many_) : nullptr) {}
  Fields(Fields&& other) noexcept : size_(other.size_), few_(other.few_), many_(std::move(other.many_)) {
    other.size_ = 0;
  }
  Fields& operator=(Fields other) noexcept {
    size_ = other.size_;
    few_ = other.few_;
    many_ = std::move(other.many_);
    return *this;
  }
  ~Fields() = default;

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const int* begin() const { return many_ ? many_->data() : few_.data(); }
  [[nodiscard]] const int* end() const { return begin() + size_; }
  [[nodiscard]] int operator[](size_t at) const { return begin()[at]; }
  [[nodiscard]] int back() const { return begin()[size_ - 1]; }

  void push_back(int name) {
    if (!many_ && size_ == few_.size()) many_ = std::make_unique<std::vector<int>>(few_.begin(), few_.end());
    if (many_) {
      many_->push_back(name);
    } else {
      few_[size_] = name;
    }
    ++size_;
  }
  // Only appends. `from` must not point into this list.
  void insert(const int* /*end*/, const int* from, const int* to) {
    for (; from != to; ++from) push_back(*from);
  }
  void shorten(size_t size) {
    size_ = size;
    if (many_) many_->resize(size);
  }

 private:
  static constexpr size_t kFew = 4;
  size_t size_ = 0;
  std::array<int, kFew> few_{};
  // All names, if there are more than kFew.
  std::unique_ptr<std::vector<int>> many_;
};

inline bool operator==(const Fields& a, const Fields& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

inline bool operator<(const Fields& a, const Fields& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace flor::probes
