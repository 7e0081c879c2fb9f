#include "results/report/log_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "results/report/csv.h"
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
  std::size_t run = 0;
  std::vector<std::pair<std::size_t, int64_t>> loops;      // column, value
  std::vector<std::pair<std::size_t, const Json*>> cells;  // column, value
};

// Arranges rows as a table: one line for each loop path, one column for each name.
class Wide {
 public:
  explicit Wide(const std::vector<Row>& rows) {
    for (const auto& row : rows) add(row);
  }
  explicit Wide(const std::vector<RunRows>& runs) {
    for (const auto& run : runs) {
      begin_run(run);
      for (const auto& row : run.rows) add(row);
      if (run.rows.empty()) add_line();  // of its arguments alone
    }
  }

  std::vector<std::string> header() const {
    std::vector<std::string> out = shared_.texts();
    out.insert(out.end(), loops_.texts().begin(), loops_.texts().end());
    out.insert(out.end(), names_.texts().begin(), names_.texts().end());
    return out;
  }
  const std::vector<Line>& lines() const { return lines_; }

  template <class Format>
  Cells cells(const Line& line, Format format) const {
    const std::size_t loops = shared_.texts().size();
    const std::size_t names = loops + loops_.texts().size();
    std::map<std::size_t, std::string> out;  // of two loops of one name the inner one counts
    if (!runs_.empty()) {
      for (const auto& [column, text] : runs_[line.run]) out[column] = format(Json(text));
    }
    for (const auto& [column, value] : line.loops) out[loops + column] = std::to_string(value);
    for (const auto& [column, value] : line.cells) out[names + column] = format(*value);
    return {out.begin(), out.end()};
  }

 private:
  void begin_run(const RunRows& run) {
    runs_.push_back({{shared_.position("run"), run.run}});
    for (const auto& [name, text] : run.arguments) runs_.back().emplace_back(shared_.position(name), text);
    by_path_.clear();
    ordinals_.clear();
  }

  void add_line() {
    lines_.emplace_back();
    lines_.back().run = runs_.empty() ? 0 : runs_.size() - 1;
  }

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
      add_line();
      for (const auto& [name, value] : loops) lines_.back().loops.emplace_back(loops_.position(name), value);
    }
    lines_[lines[ordinal]].cells.emplace_back(names_.position(row.name), &row.value);
  }

  Columns shared_, loops_, names_;
  std::vector<std::vector<std::pair<std::size_t, std::string>>> runs_;  // of each: column of shared_, text
  std::vector<Line> lines_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_path_;
  Ordinals ordinals_;
  std::size_t outside_ = 0;
  bool was_outside_ = false;
};

void csv_of(const Wide& wide, const Write& write) {
  InParts parts(write);
  const auto header = wide.header();
  parts.add(csv_line(header));
  for (const auto& line : wide.lines()) parts.add(csv_line(wide.cells(line, csv_value), header.size()));
  parts.flush();
}

void table_of(const Wide& wide, const Write& write) {
  std::vector<Table::Column> columns;
  for (const auto& header : wide.header()) columns.push_back({header, true});
  Table table(std::move(columns));
  for (const auto& line : wide.lines()) table.add_filled(wide.cells(line, short_value));
  table.write(write);
}

void add_columns(Json& shown, const Row& row) {
  const Json object = core::parse_json(row.text);
  for (const auto& [key, value] : object.items()) {
    if (key.rfind('@', 0) != 0) shown[key] = value;
  }
}

Json number_or_text(const std::string& text) {
  Json number = Json::parse(text, nullptr, false);
  return number.is_number() && core::json_text(number) == text ? number : Json(text);
}

Json object_of(const RunRows& run) {
  Json out{{"run", run.run}};
  for (const auto& [name, text] : run.arguments) out[name] = number_or_text(text);
  return out;
}

}  // namespace

void write_jsonl(const std::vector<Row>& rows, const Write& write) {
  InParts parts(write);
  for (const auto& row : rows) {
    Json shown = Json::object();
    add_columns(shown, row);
    parts.add(core::json_text(shown) + '\n');
  }
  parts.flush();
}

void write_jsonl(const std::vector<RunRows>& runs, const Write& write) {
  InParts parts(write);
  for (const auto& run : runs) {
    for (const auto& row : run.rows) {
      Json shown = object_of(run);
      add_columns(shown, row);
      parts.add(core::json_text(shown) + '\n');
    }
    if (run.rows.empty()) parts.add(core::json_text(object_of(run)) + '\n');
  }
  parts.flush();
}

void write_csv(const std::vector<Row>& rows, const Write& write) {
  csv_of(Wide(rows), write);
}

void write_csv(const std::vector<RunRows>& runs, const Write& write) {
  csv_of(Wide(runs), write);
}

void write_table(const std::vector<Row>& rows, const Write& write) {
  table_of(Wide(rows), write);
}

void write_table(const std::vector<RunRows>& runs, const Write& write) {
  table_of(Wide(runs), write);
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
