// Parses rows and events of record logs and unit files (docs/formats.md, "Rows").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/json.h"
#include "core/store/plan.h"
#include "core/store/scope_path.h"

namespace flor::results {

// A logged value. Identified by (scope path, name, ordinal among equals), never by its position.
struct Row {
  // Scope path.
  std::string at;
  std::string name;
  core::Json value;
  // Not part of the verdict.
  bool is_volatile = false;
  // The whole object as JSON, on one line. A million rows as JSON values would take over a gigabyte.
  std::string text;

  // Returns the JSON text of the value: equal texts mean equal bits.
  std::string value_text() const { return core::json_text(value); }
};

// Throws core::Error naming `where` if the object is no row.
Row row_from(const core::Json& json, const std::string& where);

// Counts rows of one scope and name: returns the ordinal of the next one.
class Ordinals {
 public:
  int64_t next(const std::string& at, const std::string& name);
  void skip(const std::string& at, const std::string& name, int64_t number);
  int64_t count(const std::string& at, const std::string& name) const;
  void clear() { counts_.clear(); }

 private:
  std::unordered_map<std::string, int64_t> counts_;
};

using core::scope_elements;
using core::scope_loops;
using core::ScopeElement;

// Returns the place in the program's text, as far as a path shows it: names without values and ordinals,
// "epoch=/train/step=".
std::string scope_pattern(std::string_view path);

// Returns true if `path` is the scope `outer`, or inside it.
bool lies_in(std::string_view path, std::string_view outer);

// The record log in program order, with the attempts of a resumed recording merged.
struct RecordLog {
  std::vector<Row> rows;
  // The last line was cut off (its writer was killed) and dropped.
  bool torn = false;
};
// `steps` as in spliced(), for the log of another user.
RecordLog parse_record(std::string_view text, const std::string& file, std::size_t* steps = nullptr);

struct BlockEvent {
  std::string at;
  bool skipped = false;
};
struct DigestEvent {
  std::string at, recorded, live;
};
struct LoopEndEvent {
  std::string at, name, ended, recorded_ended;
  int64_t last = 0, recorded_last = 0;
};
struct BeforeEvent {
  std::string at, name;
  int64_t count = 0;
};
using Entry = std::variant<Row, BlockEvent, DigestEvent, LoopEndEvent, BeforeEvent>;

// One committed unit: its rows and events, in order.
struct UnitLog {
  int64_t id = 0, first = 0, last = 0;
  int64_t from = -1, to = -1;  // as in core::Unit
  std::vector<Entry> entries;
};

// Throws core::Error naming `file` unless the text opens as `unit`, is closed, and contains only rows and
// events.
UnitLog parse_unit(std::string_view text, const core::Unit& unit, const std::string& file);

}  // namespace flor::results
