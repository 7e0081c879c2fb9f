// The numbers of a run as lines of a chart.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/store.h"
#include "results/rows.h"

namespace flor::dashboard {

// Iterations without a row, rows without a number, NaN and infinities are gaps.
struct Series {
  // The value of the one loop that the rows lie in, where it rises from row to row; else the row's number.
  std::vector<double> x, y;
  // The loop that x counts; "": rows.
  std::string loop;
};

// Returns the rows of this name as a line. Pure.
Series series_of(const std::vector<results::Row>& rows, const std::string& name);

// Returns at most about `points` points of the line from x = `from` to `to`: of each part of it the lowest
// and the highest, so that no extreme is lost, and its first gap. Pure.
Series thinned(const Series& series, double from, double to, std::size_t points);

// {"x": […], "y": […], "loop": …}; a gap is null.
core::Json to_json(const Series& series);

// [{"name": NAME, "last": VALUE, "min": NUMBER, "max": NUMBER}, …] of each name, in order of first
// appearance. `last` is null where the value is neither number nor text; `min` and `max` are null where no
// value is a number. Pure.
core::Json summary_of(const std::vector<results::Row>& rows);

// The rows of the runs that were asked for last. Thread-safe.
class RowCache {
 public:
  struct Rows {
    std::vector<results::Row> rows;
    // Names that the recording logged; the others came from replays.
    std::vector<std::string> recorded;
    std::vector<std::string> warnings;
  };
  // Returns the rows as they were at most a few seconds ago: three times as long as reading them took. Throws
  // core::Error naming a damaged log.
  std::shared_ptr<const Rows> rows_of(const core::RunDir& run);

 private:
  struct Kept {
    std::string run, signature;
    std::shared_ptr<const Rows> rows;
    double read_at = 0, took = 0;  // seconds
  };

  std::shared_ptr<const Rows> kept_rows(const core::RunDir& run, const std::string& signature);

  // Held while rows are read, so that no two read the same ones.
  std::mutex reading_;
  std::mutex mutex_;
  // The last one that was asked for comes last.
  std::vector<Kept> kept_;
};

}  // namespace flor::dashboard
