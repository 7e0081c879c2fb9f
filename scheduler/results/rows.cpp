#include "results/rows.h"

#include <algorithm>
#include <charconv>

#include "core/base/error.h"
#include "core/files/json_lines.h"
#include "results/attempts.h"

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

LoopEndEvent loop_end_from(const Json& json) {
  LoopEndEvent event;
  event.at = field<std::string>(json, "at", "");
  event.name = field<std::string>(json, "name", "");
  event.ended = field<std::string>(json, "ended", "");
  event.last = field<int64_t>(json, "last", -1);
  const Json recorded = field<Json>(json, "recorded", Json::object());
  event.recorded_ended = field<std::string>(recorded, "ended", "");
  event.recorded_last = field<int64_t>(recorded, "last", -1);
  return event;
}

Entry entry_from(Json json, const std::string& file) {
  const auto kind = field<std::string>(json, "@event", "");
  if (kind.empty()) return row_from(std::move(json), file);
  const auto at = field<std::string>(json, "at", "");
  if (kind == "block") return BlockEvent{at, field<std::string>(json, "did", "") == "skipped"};
  if (kind == "loop_end") return loop_end_from(json);
  if (kind == "digest") {
    return DigestEvent{at, field<std::string>(json, "recorded", ""), field<std::string>(json, "live", "")};
  }
  if (kind == "before")
    return BeforeEvent{at, field<std::string>(json, "name", ""), field<int64_t>(json, "count", 0)};
  throw core::Error(file + " is damaged: it holds an unknown event '" + kind + "'");
}

bool opens(const Json& json, const core::Unit& unit) {
  return field<int64_t>(json, "@unit", -1) == unit.id &&
         field<int64_t>(json, "first", unit.first - 1) == unit.first &&
         field<int64_t>(json, "last", unit.last - 1) == unit.last &&
         field<int64_t>(json, "from", -1) == unit.from && field<int64_t>(json, "to", -1) == unit.to;
}

}  // namespace

std::string Row::value() const {
  auto at = json.find("value");
  return at == json.end() ? std::string() : core::json_text(*at);
}

Row row_from(Json json, const std::string& where) {
  auto name = json.find("name");
  if (name == json.end() || !name->is_string() || !json.contains("value")) {
    throw core::Error(where +
                      " is damaged: it holds a line that is no row: " + core::json_text(json).substr(0, 80));
  }
  Row row;
  row.name = name->get<std::string>();
  row.at = field<std::string>(json, "@at", "");
  row.is_volatile = field(json, "@volatile", false);
  row.json = std::move(json);
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

std::vector<ScopeElement> scope_elements(std::string_view path) {
  std::vector<ScopeElement> out;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    ScopeElement element;
    const auto equals = part.find('=');
    element.loop = equals != std::string_view::npos;
    const auto cut = element.loop ? equals : part.find('#');
    element.name = part.substr(0, cut);
    if (cut != std::string_view::npos) {
      std::from_chars(part.data() + cut + 1, part.data() + part.size(), element.value);
    }
    out.push_back(element);
  }
  return out;
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

std::vector<std::pair<std::string, int64_t>> scope_loops(std::string_view path) {
  std::vector<std::pair<std::string, int64_t>> out;
  for (const auto& element : scope_elements(path)) {
    if (element.loop) out.emplace_back(std::string(element.name), element.value);
  }
  return out;
}

bool lies_in(std::string_view path, std::string_view outer) {
  if (outer.empty()) return true;
  return path.substr(0, outer.size()) == outer && (path.size() == outer.size() || path[outer.size()] == '/');
}

RecordLog parse_record(std::string_view text, const std::string& file) {
  core::JsonLines lines = core::parse_json_lines(text, file);
  std::vector<Attempt> attempts(1);
  for (auto& json : lines.rows) {
    const auto event = field<std::string>(json, "@event", "");
    if (event == "resumed") {
      attempts.emplace_back();
    } else if (event == "ended") {
      attempts.back().ended = true;
    } else if (event == "kept") {
      attempts.back().entries.emplace_back(KeptEvent{field<std::string>(json, "at", ""),
                                                     field<std::string>(json, "loop", ""),
                                                     field<int64_t>(json, "before", 0)});
    } else {
      attempts.back().entries.emplace_back(row_from(std::move(json), file));
    }
  }
  return {spliced(std::move(attempts)), lines.torn};
}

UnitLog parse_unit(std::string_view text, const core::Unit& unit, const std::string& file) {
  const std::string advice = "; remove it and start the replay again";
  core::JsonLines lines = core::parse_json_lines(text, file);
  if (lines.torn) throw core::Error(file + " is damaged: its last line is cut off" + advice);
  if (lines.rows.empty() || !opens(lines.rows.front(), unit)) {
    throw core::Error(file + " is damaged: it does not open as unit " + std::to_string(unit.id) +
                      " of this plan" + advice);
  }
  if (lines.rows.size() < 2 || field<int64_t>(lines.rows.back(), "@end", -1) != unit.id) {
    throw core::Error(file + " is damaged: the line that closes unit " + std::to_string(unit.id) +
                      " is missing" + advice);
  }
  UnitLog log{unit.id, unit.first, unit.last, unit.from, unit.to, {}};
  log.entries.reserve(lines.rows.size() - 2);
  for (std::size_t i = 1; i + 1 < lines.rows.size(); ++i) {
    log.entries.push_back(entry_from(std::move(lines.rows[i]), file));
  }
  return log;
}

}  // namespace flor::results
