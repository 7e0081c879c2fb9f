#include "gc/choice.h"

#include <algorithm>
#include <tuple>

namespace flor::gc {

Choice choose(std::vector<RunFacts> runs, const std::set<std::string>& among, const Criteria& criteria,
              double now) {
  Choice out;
  if (!criteria.any()) return out;
  std::sort(runs.begin(), runs.end(), [](const RunFacts& a, const RunFacts& b) {
    return std::tie(a.ended, a.id) < std::tie(b.ended, b.id);
  });
  std::uint64_t size = 0;
  for (const auto& run : runs) size += run.bytes;
  for (const auto& run : runs) {
    if (criteria.max_size && size <= *criteria.max_size) break;
    if (!among.empty() && among.count(run.id) == 0) continue;
    // What may have been killed is busy, and named among those that would go.
    const std::string& status = run.status == "unknown" ? "killed" : run.status;
    if (!criteria.statuses.empty() && criteria.statuses.count(status) == 0) continue;
    if (criteria.older_than && now - run.ended <= *criteria.older_than) continue;
    if (!run.busy.empty()) {
      out.busy.push_back(run);
      continue;
    }
    size -= run.bytes;
    out.remove.push_back(run);
  }
  return out;
}

}  // namespace flor::gc
