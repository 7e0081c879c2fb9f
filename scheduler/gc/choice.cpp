#include "gc/choice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace flor::gc {

double sane_end(double claims, double written) {
  return std::isfinite(claims) ? std::clamp(claims, 0.0, std::max(written, 0.0)) : written;
}

Choice choose(std::vector<RunFacts> runs, const std::set<std::string>& among, const Criteria& criteria,
              double now) {
  Choice out;
  if (!criteria.any()) return out;
  std::sort(runs.begin(), runs.end(), [](const RunFacts& a, const RunFacts& b) {
    return std::tie(a.ended, a.id) < std::tie(b.ended, b.id);
  });
  std::map<std::uint64_t, std::uint64_t> sizes;  // by owner
  for (const auto& run : runs) sizes[run.owner] += run.bytes;
  for (const auto& run : runs) {
    std::uint64_t& size = sizes[run.owner];
    if (criteria.max_size && size <= *criteria.max_size) continue;
    if (!among.empty() && among.count(run.id) == 0) continue;
    // A run that may have been killed is busy. So it is only listed, and never removed.
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
