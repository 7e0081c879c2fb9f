// Notes what one worker of a replay does, and when, for people who watch it. docs/formats.md, "Work".
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/base/json.h"

namespace flor::core {

// Appends a line when a unit begins, and one when it is committed. No call throws: where a line
// cannot be written, the replay goes on without it. Not thread-safe.
class WorkLog {
 public:
  explicit WorkLog(std::filesystem::path file) : file_(std::move(file)) {}

  void begin(int64_t unit);
  // Adds the seconds of a restore to the present unit.
  void restored(double seconds) { restored_ += seconds; }
  // Ignored for a unit that did not begin, such as a proof unit that has nothing to prove.
  void committed(int64_t unit);

 private:
  void append(const Json& line);

  const std::filesystem::path file_;
  int64_t unit_ = -1;
  // Wall-clock seconds since 1970.
  double began_ = 0;
  double restored_ = 0;
};

}  // namespace flor::core
