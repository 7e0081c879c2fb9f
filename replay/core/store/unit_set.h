// A set of unit ids, as a question of a replay selects them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace flor::core {

// A half-open range of unit ids.
using UnitRange = std::pair<int64_t, int64_t>;

// Keeps sorted, disjoint ranges that do not touch.
class UnitSet {
 public:
  UnitSet() = default;
  // Empty where first >= end.
  UnitSet(int64_t first, int64_t end);

  // `id` must be larger than every id in the set.
  void add(int64_t id);

  bool contains(int64_t id) const;
  bool empty() const { return ranges_.empty(); }
  std::size_t size() const;
  // In order.
  std::vector<int64_t> ids() const;
  const std::vector<UnitRange>& ranges() const { return ranges_; }

 private:
  std::vector<UnitRange> ranges_;
};

}  // namespace flor::core
