// The numbers of a run as lines of a chart.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/store.h"
#include "results/rows/rows.h"

namespace flor::dashboard {

// Iterations without a row are gaps, and so are values that are no finite number. A text may hold a number.
struct Series {
  // x: the loop's value, if all rows lie in one loop and its values rise; else 0, 1, 2, …
  std::vector<double> x, y;
  // The loop that x counts; "": rows.
  std::string loop;
};

// Returns the rows of this name in order. The pointers point into `rows`. Pure.
std::vector<const results::Row*> rows_of_name(const std::vector<results::Row>& rows, const std::string& name);

// Returns the rows of this name as a line. Pure.
Series series_of(const std::vector<results::Row>& rows, const std::string& name);

// Returns about `points` points of the line from x = `from` to `to`, at most half as many more where it has
// gaps: of each part of it the lowest and the highest, so that no extreme is lost, and its first gap. Pure.
Series thinned(const Series& series, double from, double to, std::size_t points);

// {"x": […], "y": […], "loop": …}; a gap is null.
core::Json to_json(const Series& series);

// [{"name": NAME, "last": VALUE, "min": NUMBER, "max": NUMBER}, …] of each name, in order of first
// appearance. `last` is null where the last value is an array or an object; `min` and `max` are null where no
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
  // Returns the rows that were read last, if the run has not changed since, or if that was not long ago: not
  // longer than three times the time that reading them took. Else reads them. Throws core::Error naming a
  // damaged log.
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
