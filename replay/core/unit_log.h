// The text of a unit's file while the unit runs (docs/formats.md, "Rows"): nothing in it differs between two
// attempts of a correct replay.
#pragma once

#include <cstdint>
#include <string>

#include "core/json.h"
#include "core/line.h"
#include "core/manifest.h"
#include "core/plan.h"

namespace flor::core {

class UnitLog {
 public:
  void open(const Unit& unit);
  void line(Line json);  // a row or event, in order
  // The whole text; waits for values that are missing. Throws Error when a file that a row names could not be
  // written.
  std::string close();

 private:
  Unit unit_;
  Lines lines_;
};

// Its events.
std::string block_event(const std::string& at, bool executed);
std::string digest_event(const std::string& at, const std::string& recorded, const std::string& live);
std::string loop_end_event(const RecordedLoop& recorded, LoopEnd ended, int64_t last);  // of the main loop

}  // namespace flor::core
