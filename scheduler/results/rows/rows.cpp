#include "results/rows/rows.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/printable.h"
#include "core/files/json_lines.h"
#include "core/store/timeline_row.h"
#include "results/rows/attempts.h"

namespace flor::results {
namespace {

using core::field;
using core::Json;

// No name or path contains a control character, so the key is unique.
std::string scoped_key(const std::string& at, const std::string& name) {
  return at + '\n' + name;
}

std::string_view without_occurrence(std::string_view name) {
  return name.substr(0, name.find('#'));
}

// Gives `take` the object of a line: a TimelineRow where the line has the form in which this library writes,
// which takes a tenth of the time, and else a Json. Returns false where the line is no object.
template <class Take>
bool take_line(std::string_view line, const Take& take) {
  if (const auto row = core::TimelineRow::parse_simple(line)) {
    take(*row);
    return true;
  }
  const Json json = core::parse_json(line);
  if (!json.is_object()) return false;
  take(json);
  return true;
}

[[noreturn]] void throw_no_row(const std::string& where, std::string_view text) {
  throw core::Error(where +
                    " is damaged: it holds a line that is no row: " + core::printable(text.substr(0, 80)));
}

// Throws core::Error naming `where` if the line is no row.
Row row_from(const core::TimelineRow& line, const std::string& where) {
  const std::string_view name = line.raw("name");
  Row row;
  row.value = core::parse_json(line.raw("value"));
  if (name.empty() || name.front() != '"' || row.value.is_discarded()) throw_no_row(where, line.text());
  row.name = field<std::string>(line, "name", "");
  row.at = field<std::string>(line, "@at", "");
  row.is_volatile = field(line, "@volatile", false);
  row.text = line.text();
  return row;
}

template <class Line>
LoopEndEvent loop_end_from(const Line& line) {
  LoopEndEvent event;
  event.at = field<std::string>(line, "at", "");
  event.name = field<std::string>(line, "name", "");
  event.ended = field<std::string>(line, "ended", "");
  event.last = field<int64_t>(line, "last", -1);
  const Json recorded = field<Json>(line, "recorded", Json::object());
  event.recorded_ended = field<std::string>(recorded, "ended", "");
  event.recorded_last = field<int64_t>(recorded, "last", -1);
  return event;
}

template <class Line>
Entry entry_from(const Line& line, const std::string& file) {
  const auto kind = field<std::string>(line, "@event", "");
  if (kind.empty()) return row_from(line, file);
  const auto at = field<std::string>(line, "at", "");
  if (kind == "block") return BlockEvent{at, field<std::string>(line, "did", "") == "skipped"};
  if (kind == "loop_end") return loop_end_from(line);
  if (kind == "digest") {
    return DigestEvent{at, field<std::string>(line, "recorded", ""), field<std::string>(line, "live", "")};
  }
  if (kind == "before")
    return BeforeEvent{at, field<std::string>(line, "name", ""), field<int64_t>(line, "count", 0)};
  throw core::Error(file + " is damaged: it holds an unknown event '" + kind + "'");
}

template <class Line>
void add_to(std::vector<Attempt>& attempts, const Line& line, const std::string& file) {
  const auto event = field<std::string>(line, "@event", "");
  if (event == "resumed") {
    attempts.emplace_back();
  } else if (event == "ended") {
    attempts.back().ended = true;
  } else if (event == "kept") {
    attempts.back().entries.emplace_back(KeptEvent{field<std::string>(line, "at", ""),
                                                   field<std::string>(line, "loop", ""),
                                                   field<int64_t>(line, "before", 0)});
  } else {
    attempts.back().entries.emplace_back(row_from(line, file));
  }
}

template <class Line>
bool opens(const Line& line, const core::Unit& unit) {
  return field<int64_t>(line, "@unit", -1) == unit.id &&
         field<int64_t>(line, "first", unit.first - 1) == unit.first &&
         field<int64_t>(line, "last", unit.last - 1) == unit.last &&
         field<int64_t>(line, "from", -1) == unit.from && field<int64_t>(line, "to", -1) == unit.to;
}

}  // namespace

Row row_from(const Json& json, const std::string& where) {
  const auto name = json.find("name"), value = json.find("value");
  Row row;
  row.text = core::json_text(json);
  if (name == json.end() || !name->is_string() || value == json.end()) throw_no_row(where, row.text);
  row.name = name->get<std::string>();
  row.at = field<std::string>(json, "@at", "");
  row.value = *value;
  row.is_volatile = field(json, "@volatile", false);
  return row;
}

int64_t Ordinals::next(const std::string& at, const std::string& name) {
  return counts_[scoped_key(at, name)]++;
}

void Ordinals::skip(const std::string& at, const std::string& name, int64_t number) {
  counts_[scoped_key(at, name)] += number;
}

int64_t Ordinals::count(const std::string& at, const std::string& name) const {
  auto found = counts_.find(scoped_key(at, name));
  return found == counts_.end() ? 0 : found->second;
}

std::string scope_pattern(std::string_view path) {
  std::string out;
  for (const auto& element : scope_elements(path)) {
    if (!out.empty()) out += '/';
    out += without_occurrence(element.name);
    if (element.loop) out += '=';
  }
  return out;
}

bool lies_in(std::string_view path, std::string_view outer) {
  if (outer.empty()) return true;
  return path.substr(0, outer.size()) == outer && (path.size() == outer.size() || path[outer.size()] == '/');
}

RecordLog parse_record(std::string_view text, const std::string& file, std::size_t* steps) {
  std::vector<Attempt> attempts(1);
  const bool torn = core::for_each_line(text, file, [&](std::string_view line) {
    return take_line(line, [&](const auto& object) { add_to(attempts, object, file); });
  });
  try {
    return {spliced(std::move(attempts), steps), torn};
  } catch (const core::Error& problem) {
    throw core::Error(file + ": " + problem.what());
  }
}

UnitLog parse_unit(std::string_view text, const core::Unit& unit, const std::string& file) {
  UnitLog log{unit.id, unit.first, unit.last, unit.from, unit.to, {}};
  const auto damaged = [&](const std::string& how) {
    return core::Error(file + " is damaged: " + how + "; remove it and start the replay again");
  };
  const std::string number = std::to_string(unit.id);
  const auto no_end = [&] { return damaged("the line that closes unit " + number + " is missing"); };
  bool is_open = false, is_closed = false;
  const bool torn = core::for_each_line(text, file, [&](std::string_view one) {
    return take_line(one, [&](const auto& line) {
      if (!is_open) {
        is_open = opens(line, unit);
        if (!is_open) throw damaged("it does not open as unit " + number + " of this plan");
      } else if (is_closed) {
        throw damaged("a line stands behind the one that closes unit " + number);
      } else if (line.contains("@end")) {
        is_closed = field<int64_t>(line, "@end", -1) == unit.id;
        if (!is_closed) throw no_end();
      } else {
        log.entries.push_back(entry_from(line, file));
      }
    });
  });
  if (torn) throw damaged("its last line is cut off");
  if (!is_open) throw damaged("it does not open as unit " + number + " of this plan");
  if (!is_closed) throw no_end();
  return log;
}

}  // namespace flor::results
