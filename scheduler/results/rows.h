// Rows and events of record logs and unit files: docs/formats.md, "Rows".
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

namespace flor::results {

// A logged value. Its identity is (scope path, name, ordinal among equals), never its position.
struct Row {
  std::string at;  // scope path
  std::string name;
  core::Json json;           // all of it, as in the file
  bool is_volatile = false;  // outside the verdict

  // The value's JSON text: equal texts mean equal bits. Empty where the row has no value.
  std::string value() const;
};

// Throws core::Error that names `where` when the object is no row.
Row row_from(core::Json json, const std::string& where);

// Counts rows of one scope and name: the ordinal of the next one.
class Ordinals {
 public:
  int64_t next(const std::string& at, const std::string& name);
  void skip(const std::string& at, const std::string& name, int64_t number);
  int64_t count(const std::string& at, const std::string& name) const;
  void clear() { counts_.clear(); }

 private:
  std::unordered_map<std::string, int64_t> counts_;
};

// A scope path in pieces: loops have a value.
struct ScopeElement {
  std::string_view name;  // with its occurrence, "epoch#1"; of a block without its ordinal
  bool loop = false;
  int64_t value = 0;  // of the loop's iteration; of a block its ordinal
};
std::vector<ScopeElement> scope_elements(std::string_view path);

// The place in the program's text, as far as a path tells: its names without values and ordinals,
// "epoch=/train/step=".
std::string scope_pattern(std::string_view path);

// The loops of a path, outermost first: names and values, the columns of a table.
std::vector<std::pair<std::string, int64_t>> scope_loops(std::string_view path);

// Is `path` the scope `outer` or inside of it?
bool lies_in(std::string_view path, std::string_view outer);

// The record log in program order, the attempts of a resumed recording spliced.
struct RecordLog {
  std::vector<Row> rows;
  bool torn = false;  // the last line was cut off (a killed writer) and dropped
};
RecordLog parse_record(std::string_view text, const std::string& file);

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

// One committed unit: what happened, in order.
struct UnitLog {
  int64_t id = 0, first = 0, last = 0;
  int64_t from = -1, to = -1;  // as in core::Unit
  std::vector<Entry> entries;
};

// Throws core::Error that names `file` unless it opens as `unit`, is closed, and holds nothing but rows and
// events.
UnitLog parse_unit(std::string_view text, const core::Unit& unit, const std::string& file);

}  // namespace flor::results
