// Sets of unit ids, as a question selects them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace flor::core {

// Half-open range of unit ids.
using UnitRange = std::pair<int64_t, int64_t>;

// Kept as disjoint ranges that do not touch, in order.
class UnitSet {
 public:
  UnitSet() = default;
  UnitSet(int64_t first, int64_t end);  // a range; empty where first >= end

  void add(int64_t id);  // larger than every id that is in

  bool contains(int64_t id) const;
  bool empty() const { return ranges_.empty(); }
  std::size_t size() const;
  std::vector<int64_t> ids() const;  // in order
  const std::vector<UnitRange>& ranges() const { return ranges_; }

 private:
  std::vector<UnitRange> ranges_;
};

}  // namespace flor::core
