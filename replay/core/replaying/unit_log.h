// Collects the text of a unit's file while the unit runs (docs/formats.md, "Rows"). Two attempts of a
// deterministic program yield equal texts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/log/line.h"
#include "core/store/generators.h"
#include "core/store/manifest.h"
#include "core/store/plan.h"

namespace flor::core {

class UnitLog {
 public:
  // Adds a row or event from before the main loop. It belongs to unit 0.
  void preamble(Line json) { preamble_.push_back(std::move(json)); }
  // Counts a row that was logged before the inner loop of the present iteration. A unit that begins after
  // that states these counts, so that its own rows are numbered as in the record.
  void count(const std::string& at, const std::string& name) { ++in_front_[{at, name}]; }
  void begin_iteration() { in_front_.clear(); }

  void open(const Unit& unit);
  // Adds a row or event. Call in program order.
  void line(Line json);
  // Adds the event that the generators differ from the recorded ones, unless the unit has one: behind the
  // first all are shifted.
  void generators_differ(const std::string& at, const GeneratorLog::Difference& difference);
  // Returns the whole text. Waits for missing values. Throws Error if a file that a row refers to could not
  // be written.
  std::string close();
  // Seconds since open().
  double seconds() const;

 private:
  Unit unit_;
  Lines lines_;
  double opened_ = 0;
  bool tells_of_generators_ = false;
  std::vector<Line> preamble_;
  // (scope path, name) → number of rows.
  std::map<std::pair<std::string, std::string>, int64_t> in_front_;
};

// The next functions return the events of a unit, as lines.
//
// A block was executed or skipped.
std::string block_event(const std::string& at, bool executed);
// The unit begins inside an iteration; `count` rows of this name came before the inner loop.
std::string before_event(const std::string& at, const std::string& name, int64_t count);
// The state at `at`, as recorded and now.
std::string digest_event(const std::string& at, const std::string& recorded, const std::string& live);
// How the main loop ended, as recorded and now.
std::string loop_end_event(const RecordedLoop& recorded, LoopEnd ended, int64_t last);

// Returns the text of a unit without the lines of volatile rows, which differ at every execution.
std::string without_volatile_rows(const std::string& text);

}  // namespace flor::core
