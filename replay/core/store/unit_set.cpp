#include "core/store/unit_set.h"

#include <algorithm>
#include <numeric>

namespace flor::core {

UnitSet::UnitSet(int64_t first, int64_t end) {
  if (first < end) ranges_.emplace_back(first, end);
}

void UnitSet::add(int64_t id) {
  if (!ranges_.empty() && ranges_.back().second == id) {
    ranges_.back().second += 1;
  } else {
    ranges_.emplace_back(id, id + 1);
  }
}

bool UnitSet::contains(int64_t id) const {
  const auto behind =
      std::upper_bound(ranges_.begin(), ranges_.end(), id,
                       [](int64_t value, const UnitRange& range) { return value < range.first; });
  return behind != ranges_.begin() && id < std::prev(behind)->second;
}

std::size_t UnitSet::size() const {
  return std::accumulate(ranges_.begin(), ranges_.end(), std::size_t{0},
                         [](std::size_t sum, const UnitRange& range) {
                           return sum + static_cast<std::size_t>(range.second - range.first);
                         });
}

std::vector<int64_t> UnitSet::ids() const {
  std::vector<int64_t> out;
  out.reserve(size());
  for (const auto& [first, end] : ranges_) {
    for (int64_t id = first; id < end; ++id) out.push_back(id);
  }
  return out;
}

}  // namespace flor::core
