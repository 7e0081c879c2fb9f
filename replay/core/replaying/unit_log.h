// The text of a unit's file while the unit runs (docs/formats.md, "Rows"): nothing in it differs between two
// attempts of a correct replay.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/log/line.h"
#include "core/store/manifest.h"
#include "core/store/plan.h"

namespace flor::core {

class UnitLog {
 public:
  // Rows and events from before the main loop: of unit 0.
  void preamble(Line json) { preamble_.push_back(std::move(json)); }
  // A row was logged in the present iteration in front of its inner loop: a unit that begins behind it says
  // how many there were, so that rows that follow are told apart from them.
  void count(const std::string& at, const std::string& name) { ++in_front_[{at, name}]; }
  void begin_iteration() { in_front_.clear(); }

  void open(const Unit& unit);
  void line(Line json);  // a row or event, in order
  // The whole text; waits for values that are missing. Throws Error when a file that a row names could not be
  // written.
  std::string close();
  double seconds() const;  // since it was opened

 private:
  Unit unit_;
  Lines lines_;
  double opened_ = 0;
  std::vector<Line> preamble_;
  std::map<std::pair<std::string, std::string>, int64_t> in_front_;  // place and name
};

// Its events.
std::string block_event(const std::string& at, bool executed);
// The unit begins inside of an iteration, in which so many rows of the name stood in front of the inner loop.
std::string before_event(const std::string& at, const std::string& name, int64_t count);
std::string digest_event(const std::string& at, const std::string& recorded, const std::string& live);
std::string loop_end_event(const RecordedLoop& recorded, LoopEnd ended, int64_t last);  // of the main loop

}  // namespace flor::core
