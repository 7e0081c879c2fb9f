#include "core/store/timeline.h"

#include <algorithm>
#include <deque>
#include <future>
#include <iterator>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/base/messages.h"
#include "core/files/existence.h"
#include "core/files/json_lines.h"
#include "core/files/trusted_file.h"

namespace flor::core {
namespace {

// Below this size, starting a thread takes longer than reading the text.
constexpr std::size_t worth_a_thread = std::size_t{1} << 20;

// For each file that a timeline names, its last word: the row of a checkpoint, of its removal, or of a doubt.
// A doubt is always last: it may have been found while the file was still being written.
class LastWords {
 public:
  explicit LastWords(const Timeline& timeline) {
    at_.reserve(timeline.size() / 2);
    rows_.reserve(timeline.size() / 2);
    for (const auto& row : timeline) {
      const std::string_view kind = row.raw("kind");
      if (kind == R"("checkpoint")" || kind == R"("removed")") say(row.raw("file"), &row);
      if (kind != R"("doubt")") continue;
      for (const auto& file : field<Json>(row, "files", Json::array()))
        if (file.is_string()) doubts_.emplace_back(TimelineRow::text_of(file), &row);
    }
    for (const auto& [file, row] : doubts_) say(file, row);
  }

  // Calls `take` for the rows of one kind, in order, with the JSON text of the file's name.
  template <class Take>
  void each(std::string_view kind, Take take) const {
    for (const auto& [file, row] : rows_) {
      if (row != nullptr && row->raw("kind") == kind) take(file, row);
    }
  }

 private:
  void say(std::string_view file, const TimelineRow* row) {
    const auto [known, is_new] = at_.try_emplace(file, rows_.size());
    if (!is_new) rows_[std::exchange(known->second, rows_.size())].second = nullptr;
    rows_.emplace_back(file, row);
  }

  std::deque<std::pair<std::string, const TimelineRow*>> doubts_;
  std::unordered_map<std::string_view, std::size_t> at_;
  // nullptr: a later row follows.
  std::vector<std::pair<std::string_view, const TimelineRow*>> rows_;
};

std::set<std::string> files_last_named_by(std::string_view kind, const Timeline& timeline) {
  std::set<std::string> files;
  LastWords(timeline).each(kind, [&](std::string_view file, const TimelineRow*) {
    const Json name = parse_json(file);
    if (name.is_string()) files.insert(name.get<std::string>());
  });
  return files;
}

}  // namespace

Timeline read_timeline(const std::filesystem::path& path) {
  if (!is_there(path)) return {};
  const Descriptor file = open_regular(path);
  const std::size_t most = is_foreign(file) ? most_foreign_rows : std::numeric_limits<std::size_t>::max();
  return parse_timeline(read_regular(file, path, any_size, foreign_timeline_limit), path.string(), most);
}

Timeline parse_timeline(std::string text, const std::string& name, std::size_t most_rows) {
  const auto whole = std::make_shared<const std::string>(std::move(text));
  // Sets `ends_well` to whether the last line is a row.
  const auto rows_of = [&](std::string_view part, bool& ends_well) {
    Timeline rows;
    rows.reserve(std::min(part.size() / 200, most_rows));
    for_each_line(part, name, [&](std::string_view line) {
      auto row = TimelineRow::parse(whole, line);
      ends_well = row.has_value();
      if (rows.size() >= most_rows)
        throw Error(name + " holds more than " + std::to_string(most_rows) + " rows and is not read");
      if (row) rows.push_back(std::move(*row));
      return ends_well;
    });
    return rows;
  };
  bool ends_well = true, later_ends_well = true;
  const std::string_view all = *whole;
  const std::size_t middle = all.find('\n', all.size() / 2);
  if (all.size() < worth_a_thread || middle == std::string_view::npos) return rows_of(all, ends_well);
  auto later =
      std::async(std::launch::async, [&] { return rows_of(all.substr(middle + 1), later_ends_well); });
  try {
    Timeline rows = rows_of(all.substr(0, middle + 1), ends_well);
    Timeline rest = later.get();
    if (ends_well && rows.size() + rest.size() <= most_rows) {
      rows.insert(rows.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
      return rows;
    }
  } catch (const Error&) {
    // The message counts lines from the middle of the text. The whole text is read again below.
  }
  // Reads the text as a whole: so an error names the right line, and a torn line counts only at the very end.
  return rows_of(all, ends_well);
}

std::vector<const TimelineRow*> kept_checkpoints(const Timeline& timeline) {
  std::vector<const TimelineRow*> kept;
  std::unordered_map<std::string_view, std::size_t> places;
  LastWords(timeline).each(R"("checkpoint")", [&](std::string_view, const TimelineRow* row) {
    const auto [known, is_new] = places.try_emplace(row->raw("at"), kept.size());
    if (!is_new) kept[std::exchange(known->second, kept.size())] = nullptr;
    kept.push_back(row);
  });
  kept.erase(std::remove(kept.begin(), kept.end(), nullptr), kept.end());
  return kept;
}

std::set<std::string> removed_checkpoints(const Timeline& timeline) {
  return files_last_named_by(R"("removed")", timeline);
}

std::set<std::string> doubted_checkpoints(const Timeline& timeline) {
  return files_last_named_by(R"("doubt")", timeline);
}

ExecutionCost execution_cost(const TimelineRow& row) {
  if (field<std::string>(row, "kind", "") != "block") return {};
  return {field(row, "own", 0.0), field(row, "stall", 0.0) + field(row, "interference", 0.0)};
}

Json removed_row(const std::string& file, const std::string& at, bool held) {
  Json row = {{"kind", "removed"}, {"at", at}, {"file", file}};
  if (held) row["held"] = true;
  return row;
}

}  // namespace flor::core
