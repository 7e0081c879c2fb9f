#include "core/config/values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/base/parse_number.h"
#include "core/base/units_text.h"
#include "core/base/valid_id.h"

namespace flor::core {
namespace {

constexpr std::size_t npos = std::string::npos;

template <auto parse>
bool is(const std::string& text) {
  return parse(text).has_value();
}

bool is_absolute(const std::string& text) {
  return !text.empty() && text.front() == '/';
}

bool is_argument(const std::string& text) {
  const auto equals = text.find('=');
  return equals != npos && equals > 0 && text.find('\n') == npos;
}

bool is_run(const std::string& text) {
  return is_valid_id(text);
}

bool is_replay(const std::string& text) {
  const auto slash = text.find('/');
  return is_valid_id(text.substr(0, slash)) && (slash == npos || is_valid_id(text.substr(slash + 1)));
}

// Are these names as clean_name() returns them for blocks, with commas between?
bool are_blocks(const std::string& text) {
  const auto in_a_name = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' ||
           c == '_' || c == '-';
  };
  bool has_name = false;
  for (const char c : text) {
    if (c == ',' ? !has_name : !in_a_name(c)) return false;
    has_name = c != ',';
  }
  return has_name;
}

constexpr std::array<SettingForm, 15> forms{
    {{"epsilon", "the share of training time that recording may cost, a number above 0 such as 0.0667",
      is<epsilon_from>},
     {"every", "a number from 1, a checkpoint after every so many executions, or 0 for the adaptive policy",
      is<every_from>},
     {"keep", "all, or a number from 1: of each kind the newest so many checkpoints are kept", is<keep_from>},
     {"materializer", "how checkpoints are written: inline, thread, fork, fork-batch or auto",
      is<materializer_from>},
     {"mtbf", "a time above 0, in seconds or with s, m, h or d such as 12h", is<parse_duration>},
     {"step_seconds", "a number of seconds, 0 or more", is<seconds_from>},
     {"grace", "how many seconds there are between SIGTERM and the kill, 0 or more", is<seconds_from>},
     {"spool_rate", "bytes a second such as 200M", is<parse_bytes>},
     {"local", "the absolute path of a directory that each node has for itself", is_absolute},
     {"name", "a name of letters, digits, '.', '_' and '-', 128 at most, the first a letter or digit",
      is<name_from>},
     {"arg", "NAME=VALUE such as lr=0.1; a value cannot hold a line break", is_argument},
     {"resume", "a run, by its id or name; `flor runs` lists the runs", is_run},
     {"replay", "RUN or RUN/REPLAY; `flor runs` lists the runs", is_replay},
     {"probe", "auto, none, all or names of blocks such as train,eval", are_blocks},
     {"epochs", "ranges such as 40:60, which is 40 to 59, or single numbers; several with commas: 3,7,40:60",
      is<ranges_from>}}};

std::optional<ValueRange> range_from(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view first = text.substr(0, colon);
  const std::string_view last = colon == npos ? std::string_view() : text.substr(colon + 1);
  ValueRange range;
  if (!first.empty()) range.begin = parse_number<std::int64_t>(first);
  if (!last.empty()) range.end = parse_number<std::int64_t>(last);
  if (range.begin.has_value() == first.empty() || range.end.has_value() == last.empty()) return std::nullopt;
  if (colon == npos && range.begin) {
    if (*range.begin == std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    range.end = *range.begin + 1;
  }
  if (!range.begin && !range.end) return std::nullopt;
  if (range.begin && range.end && *range.begin >= *range.end) return std::nullopt;
  return range;
}

}  // namespace

std::optional<double> epsilon_from(const std::string& text) {
  const auto value = parse_number<double>(text);
  return value && *value > 0 && *value < 1e6 ? value : std::nullopt;
}

std::optional<std::int64_t> every_from(const std::string& text) {
  const auto number = parse_number<std::int64_t>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

std::optional<std::int64_t> keep_from(const std::string& text) {
  if (text == "all") return 0;
  const auto number = parse_number<std::int64_t>(text);
  return number && *number >= 1 ? number : std::nullopt;
}

std::optional<std::string> materializer_from(const std::string& text) {
  static constexpr std::array<std::string_view, 5> known{"inline", "thread", "fork", "fork-batch", "auto"};
  if (std::find(known.begin(), known.end(), text) == known.end()) return std::nullopt;
  return text;
}

std::optional<std::string> name_from(const std::string& text) {
  return is_valid_id(text) ? std::optional(text) : std::nullopt;
}

std::optional<double> seconds_from(const std::string& text) {
  const auto value = parse_number<double>(text);
  return value && *value >= 0 && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::vector<ValueRange>> ranges_from(const std::string& text) {
  std::vector<ValueRange> ranges;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const auto range = range_from(std::string_view(text).substr(begin, comma - begin));
    if (!range) return std::nullopt;
    ranges.push_back(*range);
    begin = comma + 1;
  }
  return ranges;
}

const SettingForm& setting_form(std::string_view key) {
  for (const SettingForm& form : forms) {
    if (key == form.key) return form;
  }
  throw std::out_of_range("no setting " + std::string(key));
}

}  // namespace flor::core
