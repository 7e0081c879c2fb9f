#include "results/report/log_text.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "results/report/table.h"

namespace flor::results {
namespace {

using core::Json;

// Collects texts in order of first appearance, with their positions.
class Columns {
 public:
  std::size_t position(const std::string& text) {
    auto [at, first] = positions_.emplace(text, texts_.size());
    if (first) texts_.push_back(text);
    return at->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::unordered_map<std::string, std::size_t> positions_;
  std::vector<std::string> texts_;
};

struct Line {
  std::vector<std::pair<std::size_t, int64_t>> loops;      // column, value
  std::vector<std::pair<std::size_t, const Json*>> cells;  // column, value
};

// Arranges rows as a table: one line for each loop path, one column for each name.
class Wide {
 public:
  explicit Wide(const std::vector<Row>& rows) {
    for (const auto& row : rows) add(row);
  }

  std::vector<std::string> header() const {
    std::vector<std::string> out = loops_.texts();
    out.insert(out.end(), names_.texts().begin(), names_.texts().end());
    return out;
  }
  std::size_t loop_columns() const { return loops_.texts().size(); }
  const std::vector<Line>& lines() const { return lines_; }

  // One text per column.
  template <class Format>
  std::vector<std::string> cells(const Line& line, Format format) const {
    std::vector<std::string> out(loops_.texts().size() + names_.texts().size());
    for (const auto& [column, value] : line.loops) out[column] = std::to_string(value);
    for (const auto& [column, value] : line.cells) out[loops_.texts().size() + column] = format(*value);
    return out;
  }

 private:
  void add(const Row& row) {
    const auto loops = scope_loops(row.at);
    std::string path;
    for (const auto& [name, value] : loops) path += name + '=' + std::to_string(value) + '/';
    // Rows before and after a loop share a path, but not a line.
    if (loops.empty()) path = "#" + std::to_string(outside_);
    if (loops.empty() != was_outside_) outside_ += loops.empty() ? 0 : 1;
    was_outside_ = loops.empty();
    auto& lines = by_path_[path];
    const auto ordinal = static_cast<std::size_t>(ordinals_.next(path, row.name));
    if (ordinal == lines.size()) {
      lines.push_back(lines_.size());
      lines_.emplace_back();
      for (const auto& [name, value] : loops) lines_.back().loops.emplace_back(loops_.position(name), value);
    }
    lines_[lines[ordinal]].cells.emplace_back(names_.position(row.name), &row.json.at("value"));
  }

  Columns loops_, names_;
  std::vector<Line> lines_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_path_;
  Ordinals ordinals_;
  std::size_t outside_ = 0;
  bool was_outside_ = false;
};

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string csv_value(const Json& value) {
  return value.is_string() ? value.get<std::string>() : core::json_text(value);
}

void add_csv_line(std::string& out, const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out += ',';
    out += csv_cell(cells[i]);
  }
  out += '\n';
}

}  // namespace

std::string as_jsonl(const std::vector<Row>& rows) {
  std::string out;
  for (const auto& row : rows) {
    Json shown = Json::object();
    for (const auto& [key, value] : row.json.items()) {
      if (key.rfind('@', 0) != 0) shown[key] = value;
    }
    out += core::json_text(shown) + '\n';
  }
  return out;
}

std::string as_csv(const std::vector<Row>& rows) {
  const Wide wide(rows);
  std::string out;
  add_csv_line(out, wide.header());
  for (const auto& line : wide.lines()) add_csv_line(out, wide.cells(line, csv_value));
  return out;
}

std::string as_table(const std::vector<Row>& rows) {
  const Wide wide(rows);
  std::vector<Table::Column> columns;
  for (const auto& header : wide.header()) columns.push_back({header, true});
  Table table(std::move(columns));
  for (const auto& line : wide.lines()) table.add(wide.cells(line, short_value));
  return table.text();
}

void require_names(const std::vector<Row>& rows, const std::vector<std::string>& names) {
  std::set<std::string> known;
  for (const auto& row : rows) known.insert(row.name);
  for (const auto& name : names) {
    if (known.count(name) != 0) continue;
    std::string all;
    for (const auto& other : known) all += (all.empty() ? "" : ", ") + other;
    throw core::UsageError("no row is named '" + name + "'; the run has " + (all.empty() ? "no rows" : all));
  }
}

std::vector<Row> selected(std::vector<Row> rows, const core::Manifest& manifest, const Selection& selection) {
  const auto& [names, ranges] = selection;
  const std::set<std::string> wanted(names.begin(), names.end());
  const core::RecordedLoop* main = manifest.main_loop();
  const auto dropped = [&, &ranges = ranges](const Row& row) {
    if (!wanted.empty() && wanted.count(row.name) == 0) return true;
    if (ranges.empty()) return false;
    const auto loops = scope_loops(row.at);
    if (main == nullptr || loops.empty() || loops.front().first != main->name) return true;
    const int64_t value = loops.front().second;
    return std::none_of(ranges.begin(), ranges.end(), [&](const Selection::Range& range) {
      return (!range.first || *range.first <= value) && (!range.second || value < *range.second);
    });
  };
  rows.erase(std::remove_if(rows.begin(), rows.end(), dropped), rows.end());
  return rows;
}

}  // namespace flor::results
