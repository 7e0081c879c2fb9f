// When the rows of a run came, by the time computed: the seconds that its iterations took, without what
// checkpoints cost.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/store/store.h"
#include "core/store/timeline.h"
#include "dashboard/data/series.h"
#include "results/rows/rows.h"

namespace flor::dashboard {

struct IterationTime {
  double begin = 0, end = 0;
};

// The iterations of the main loop that have ended.
struct Times {
  // Empty: the run has none.
  std::string loop;
  std::map<int64_t, IterationTime> iterations;
};

// An iteration that a resumed recording executed again counts once, as executed last. Pure.
Times times_of(const core::Timeline& timeline, const std::string& main_loop);

// Returns the points of a curve: x is the seconds computed, y the values of this name. The last row of an
// iteration lies at the iteration's end, and the others at equal distances before it. An iteration without a
// row is a gap. Leaves out rows outside of these iterations. Pure.
Series series_by_time(const std::vector<results::Row>& rows, const std::string& name, const Times& times);

// The times of the runs that were asked for last. Thread-safe.
class TimesCache {
 public:
  // Throws core::Error naming a damaged file.
  std::shared_ptr<const Times> times_of(const core::RunDir& run);

 private:
  struct Kept {
    std::string run, signature;
    std::shared_ptr<const Times> times;
    double read_at = 0, took = 0;
  };
  // Held while a timeline is read, so that no two read the same one.
  std::mutex mutex_;
  // The last one that was asked for comes last.
  std::vector<Kept> kept_;
};

}  // namespace flor::dashboard
