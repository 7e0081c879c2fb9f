// A pretended training program: writes the logs that recording and replaying it would write.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "results/rows/rows.h"

namespace flor::results::testing {

// One line of a log, `at` as in docs/formats.md; the loop path as columns. `value` is JSON text.
inline std::string line(const std::string& at, const std::string& name, const std::string& value,
                        const std::string& more = "") {
  std::string out = R"({"name":")" + name + R"(","value":)" + value;
  for (const auto& [loop, number] : scope_loops(at)) out += ",\"" + loop + "\":" + std::to_string(number);
  return out + R"(,"@at":")" + at + '"' + more + "}\n";
}

inline std::string skipped(const std::string& at) {
  return R"({"@event":"block","at":")" + at + "\",\"did\":\"skipped\"}\n";
}
inline std::string executed(const std::string& at) {
  return R"({"@event":"block","at":")" + at + "\",\"did\":\"executed\"}\n";
}
inline std::string digest(const std::string& at, const std::string& recorded, const std::string& live) {
  return R"({"@event":"digest","at":")" + at + R"(","recorded":")" + recorded + R"(","live":")" + live +
         "\"}\n";
}
inline std::string loop_end(int64_t last, int64_t recorded_last, const std::string& ended = "exhausted") {
  return R"({"@event":"loop_end","at":"","name":"epoch","ended":")" + ended + R"(","last":)" +
         std::to_string(last) + R"(,"recorded":{"ended":"exhausted","last":)" +
         std::to_string(recorded_last) + "}}\n";
}

inline core::RecordedLoop loop(const std::string& name, int64_t iterations, double seconds) {
  core::RecordedLoop out;
  out.name = name;
  out.end = iterations;
  out.iterations = iterations;
  out.last = iterations - 1;
  out.ended = core::LoopEnd::exhausted;
  out.seconds = seconds;
  return out;
}

inline core::Manifest manifest(int64_t epochs) {
  core::Manifest out;
  out.id = "run";
  out.status = "completed";
  out.loops = {loop("epoch", epochs, 10)};
  return out;
}

// One unit per `width` epochs.
inline core::Plan plan(int64_t epochs, int64_t width = 1) {
  core::Plan out;
  out.run = "run";
  out.replay = "r1";
  for (int64_t first = 0; first < epochs; first += width) {
    core::Unit unit;
    unit.id = static_cast<int64_t>(out.units.size());
    unit.first = first;
    unit.last = std::min(first + width, epochs) - 1;
    out.units.push_back(unit);
  }
  out.selected = {0, static_cast<int64_t>(out.units.size())};
  out.segments = out.selected.ranges();
  return out;
}

inline std::string unit_text(const core::Unit& unit, const std::string& body) {
  return R"({"@unit":)" + std::to_string(unit.id) + ",\"first\":" + std::to_string(unit.first) +
         ",\"last\":" + std::to_string(unit.last) + "}\n" + body + "{\"@end\":" + std::to_string(unit.id) +
         "}\n";
}

inline UnitLog unit_log(const core::Unit& unit, const std::string& body) {
  return parse_unit(unit_text(unit, body), unit, "unit");
}

inline std::vector<Row> record(const std::string& text) {
  return parse_record(text, "log.jsonl").rows;
}

// "name" or "name@at" of each row, in order.
inline std::vector<std::string> places(const std::vector<Row>& rows) {
  std::vector<std::string> out;
  out.reserve(rows.size());
  for (const auto& row : rows) out.push_back(row.name + (row.at.empty() ? "" : "@" + row.at));
  return out;
}

}  // namespace flor::results::testing
