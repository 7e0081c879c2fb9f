#include "dashboard/terminal/screen.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <sstream>

#include "commands/base/options.h"
#include "core/base/printable.h"
#include "core/base/units_text.h"
#include "dashboard/terminal/gantt.h"
#include "dashboard/terminal/letters.h"
#include "results/report/table.h"

namespace flor::dashboard {
namespace {

using core::field;
using core::Json;

constexpr std::size_t bar_width = 16;
constexpr std::size_t least_curve = 10;
// Names in front of curves and of workers.
constexpr std::size_t label_width = 22;
constexpr std::size_t most_workers = 16;

std::string text(const Json& run, const char* key) {
  return core::printable(field<std::string>(run, key, ""));
}

std::string called(const Json& run) {
  const std::string name = text(run, "name");
  return name.empty() ? text(run, "id") : name;
}

std::string bar(const Json& run, bool is_utf8) {
  const auto of = field<int64_t>(run, "of", 0);
  const auto done = field<int64_t>(run, "done", 0);
  if (of <= 0) return std::string(bar_width, ' ');
  const auto full =
      static_cast<std::size_t>(std::clamp<int64_t>(done * int64_t{bar_width} / of, 0, bar_width));
  std::string out;
  for (std::size_t i = 0; i < bar_width; ++i) out += i < full ? (is_utf8 ? "█" : "#") : (is_utf8 ? "░" : "-");
  return out;
}

std::string progress(const Json& run) {
  if (text(run, "loop").empty()) return "-";
  const auto of = field<int64_t>(run, "of", 0);
  return std::to_string(field<int64_t>(run, "done", 0)) + "/" + (of < 0 ? "?" : std::to_string(of));
}

std::string time_left(const Json& run) {
  const auto of = field<int64_t>(run, "of", 0);
  const auto done = field<int64_t>(run, "done", 0);
  if (text(run, "status") != "recording" || done <= 0 || of <= done) return "";
  const double each = field(run, "seconds", 0.0) / static_cast<double>(done);
  return commands::shown_seconds(each * static_cast<double>(of - done));
}

// ", about 5.0 s to 8.0 s left", of a replay that goes on.
std::string replay_left(const Json& replay) {
  if (!replay.contains("work")) return "";
  const Json& left = replay.at("work").at("totals").at("left");
  if (!left.is_array()) return "";
  const auto fast = commands::shown_seconds(left.at(0)), slow = commands::shown_seconds(left.at(1));
  return ", about " + (fast == slow ? slow : fast + " to " + slow) + " left";
}

std::string values(const Json& run) {
  std::string out;
  const Json all = field<Json>(run, "values", Json::object());
  for (const auto& [name, value] : all.items()) {
    const std::string number =
        value.is_number() ? results::short_number(value.get<double>()) : value.get<std::string>();
    out += (out.empty() ? "" : ", ") + core::printable(name) + " " + number;
  }
  return out;
}

bool fits(const Json& run, const std::string& filter) {
  std::string all;
  for (const char* key : {"id", "name", "status", "host", "job", "user"}) all += text(run, key) + " ";
  for (const auto& word : field<std::vector<std::string>>(run, "command", {})) all += word + " ";
  const Json args = field<Json>(run, "args", Json::object());
  for (const auto& [name, value] : args.items())
    all += name + "=" + (value.is_string() ? value.get<std::string>() : value.dump()) + " ";
  std::istringstream words(filter);
  for (std::string word; words >> word;)
    if (all.find(word) == std::string::npos) return false;
  return true;
}

std::string row(const Json& run, const View& view) {
  return padded(called(run), 24) + " " + padded(text(run, "status"), 10) + " " + bar(run, view.is_utf8) +
         " " + padded(progress(run), 11) + " " + padded(time_left(run), 8) + " " +
         padded(text(run, "host"), 10) + " " + values(run);
}

std::string keys(const View& view, std::size_t pages) {
  if (view.is_typing)
    return "/" + core::printable(view.filter) + (view.is_utf8 ? "▏" : "_") + "   Enter: done";
  std::string out = "q: quit   /: filter";
  if (!view.filter.empty()) out += " (" + core::printable(view.filter) + ")";
  if (pages > 1) out += "   n, p: page " + std::to_string(view.page + 1) + " of " + std::to_string(pages);
  return out;
}

Screen cut_to(std::vector<std::string> lines, std::size_t pages, const View& view) {
  if (lines.size() > view.height) lines.resize(view.height);
  for (auto& line : lines) line = cut(line, view.width);
  return {std::move(lines), pages};
}

}  // namespace

Screen screen_of_runs(const Json& snapshot, const View& view) {
  std::vector<const Json*> found;
  std::size_t recording = 0;
  const Json& runs = snapshot.at("runs");
  for (const auto& run : runs) {
    if (!fits(run, view.filter)) continue;
    found.push_back(&run);
    recording += text(run, "status") == "recording" ? 1 : 0;
  }
  std::stable_sort(found.begin(), found.end(), [](const Json* a, const Json* b) {
    return (text(*a, "status") == "recording") > (text(*b, "status") == "recording");
  });
  // Two lines in front, one behind.
  const std::size_t room = std::max<std::size_t>(view.height, 4) - 3;
  const std::size_t pages = std::max<std::size_t>((found.size() + room - 1) / room, 1);
  View shown = view;
  shown.page = std::min(view.page, pages - 1);
  std::string head =
      core::printable(field<std::string>(snapshot, "store", "")) + ": " + core::counted(found.size(), "run");
  if (found.size() < runs.size()) head += " of " + std::to_string(runs.size());
  std::vector<std::string> lines{head + ", " + std::to_string(recording) + " recording",
                                 padded("RUN", 24) + " " + padded("STATUS", 10) + " " +
                                     padded("PROGRESS", bar_width + 12) + " " + padded("LEFT", 8) + " " +
                                     padded("NODE", 10) + " LAST VALUES"};
  for (std::size_t i = shown.page * room; i < std::min(found.size(), (shown.page + 1) * room); ++i)
    lines.push_back(row(*found[i], view));
  lines.resize(room + 2);
  lines.push_back(keys(shown, pages));
  return cut_to(std::move(lines), pages, view);
}

Screen screen_of_run(const Json& run, const View& view) {
  const Json& line = run.at("line");
  std::string command;
  for (const auto& word : field<std::vector<std::string>>(line, "command", {}))
    command += (command.empty() ? "" : " ") + core::printable(word);
  const std::string left = time_left(line);
  std::vector<std::string> lines{
      called(line) + ": " + text(line, "status") +
          (text(line, "host").empty() ? "" : " on " + text(line, "host")) +
          (text(line, "job").empty() ? "" : ", job " + text(line, "job")),
      command,
      bar(line, view.is_utf8) + " " + progress(line) + " " + text(line, "loop") +
          (left.empty() ? "" : ", about " + left + " left") + ", " +
          core::counted(field<std::uint64_t>(line, "checkpoints", 0), "checkpoint") + ", " +
          core::bytes_text(field<std::uint64_t>(line, "bytes", 0)),
      ""};
  const std::size_t width = std::max(view.width, 36 + least_curve) - 36;
  for (const auto& one : run.at("series")) {
    if (!fits({{"name", one.at("name")}}, view.filter)) continue;
    const Json& numbers = one.at("y");
    std::string last;
    for (const auto& number : numbers)
      if (number.is_number()) last = results::short_number(number.get<double>());
    lines.push_back(padded(core::printable(one.at("name").get<std::string>()), label_width) + " " +
                    curve(numbers, width, view.is_utf8) + " " + last);
  }
  if (!run.at("replays").empty()) lines.emplace_back();
  for (const auto& replay : run.at("replays")) {
    lines.push_back("replay " + text(replay, "id") + ": " + text(replay, "state") + ", " +
                    std::to_string(field<int64_t>(replay, "committed", 0)) + " of " +
                    core::counted(static_cast<std::uint64_t>(field<int64_t>(replay, "selected", 0)), "unit") +
                    replay_left(replay));
    if (!replay.contains("work")) continue;
    const auto workers = gantt_lines(replay.at("work"), label_width, width, most_workers, view.is_utf8);
    lines.insert(lines.end(), workers.begin(), workers.end());
    if (!workers.empty()) lines.push_back(padded("", label_width) + " " + gantt_key(view.is_utf8));
  }
  const std::size_t room = std::max<std::size_t>(view.height, 2) - 1;
  const bool are_all = lines.size() <= room;
  lines.resize(room);
  if (!are_all) lines.back() = "more than fits; / finds a name";
  lines.push_back(keys(view, 1));
  return cut_to(std::move(lines), 1, view);
}

std::string line_of_run(const Json& run) {
  const std::string logged = values(run), left = time_left(run);
  return called(run) + ": " + text(run, "status") + " " + progress(run) +
         (left.empty() ? "" : ", " + left + " left") + (logged.empty() ? "" : ", " + logged);
}

std::string curve(const Json& numbers, std::size_t width, bool is_utf8) {
  static const std::vector<std::string> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static const std::vector<std::string> ascii{"_", ".", "-", "~", "=", "+", "*", "#"};
  const auto& letters = is_utf8 ? blocks : ascii;
  const std::size_t count = numbers.size();
  const std::size_t parts = std::min(width, count);
  std::vector<std::optional<double>> means;
  for (std::size_t part = 0; part < parts; ++part) {
    double sum = 0, n = 0;
    for (std::size_t i = part * count / parts; i < (part + 1) * count / parts; ++i) {
      if (!numbers[i].is_number()) continue;
      sum += numbers[i].get<double>();
      n += 1;
    }
    means.push_back(n > 0 ? std::optional(sum / n) : std::nullopt);
  }
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const auto& mean : means) {
    if (!mean) continue;
    low = std::min(low, *mean);
    high = std::max(high, *mean);
  }
  std::string out;
  for (const auto& mean : means) {
    const double share = mean && high > low ? (*mean - low) / (high - low) : 0;
    out += mean ? letters[std::min<std::size_t>(static_cast<std::size_t>(share * 8), 7)] : " ";
  }
  return out + std::string(width - parts, ' ');
}

}  // namespace flor::dashboard
