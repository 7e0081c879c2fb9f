#include "values.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace flor::spank {
namespace {

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool is_word(const std::string& text) {
  const auto fits = [](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

// The whole text as a number.
template <typename Number>
bool parse(const std::string& text, Number& number) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end;
}

}  // namespace

bool is_id(const std::string& text) {
  return is_word(text) && is_alphanumeric(text[0]) && text.size() <= 128;
}

Problem check_epsilon(const std::string& value) {
  double epsilon = 0;
  if (parse(value, epsilon) && std::isfinite(epsilon) && epsilon > 0) return "";
  return "not a number above 0; give a share of the training time such as 0.0667";
}

Problem check_store_name(const std::string& value) {
  if (!value.empty() && (value[0] == '/' || value == "~" || value.rfind("~/", 0) == 0)) return "";
  // Relative to what? The directories of srun, of the batch script and of the task may be three.
  return "not an absolute path; give the whole path of a directory that all nodes see";
}

Problem check_label(const std::string& value) {
  return is_id(value) ? ""
                      : "not a name; use letters, digits, '.', '_' and '-', 128 at most, the first no sign";
}

Problem check_argument(const std::string& value) {
  const auto equals = value.find('=');
  if (equals == std::string::npos || !is_word(value.substr(0, equals)))
    return "not NAME=VALUE; for example lr=0.1";
  return value.find('\n') == std::string::npos ? "" : "a value cannot hold a line break";
}

Problem check_materializer(const std::string& value) {
  for (const char* known : {"inline", "thread", "fork", "fork-batch", "auto"}) {
    if (value == known) return "";
  }
  return "not a way to write checkpoints; give inline, thread, fork, fork-batch or auto";
}

Problem check_mtbf(const std::string& value) {
  const bool suffixed = !value.empty() && std::string("smhd").find(value.back()) != std::string::npos;
  double time = 0;
  if (parse(suffixed ? value.substr(0, value.size() - 1) : value, time) && std::isfinite(time) && time > 0)
    return "";
  return "not a time above 0; give seconds, or a number with s, m, h or d such as 12h";
}

Problem check_local(const std::string& value) {
  if (!value.empty() && value[0] == '/') return "";
  return "not an absolute path; give the whole path of a directory that each node has for itself";
}

Problem check_keep(const std::string& value) {
  long long number = 0;
  if (value == "all" || (parse(value, number) && number > 0)) return "";
  return "neither all nor a number from 1; 3 keeps the newest 3 checkpoints of each kind";
}

Problem check_run(const std::string& value) {
  return is_id(value) ? "" : "not a run; `flor runs` lists the runs";
}

Problem check_replay(const std::string& value) {
  const auto slash = value.find('/');
  if (is_id(value.substr(0, slash)) && (slash == std::string::npos || is_id(value.substr(slash + 1))))
    return "";
  return "not RUN or RUN/REPLAY; `flor runs` lists the runs";
}

Problem check_probe(const std::string& value) {
  std::size_t begin = 0;
  while (true) {
    const auto comma = value.find(',', begin);
    if (!is_word(value.substr(begin, comma - begin)))
      return "not auto, none, all or names of blocks such as train,eval";
    if (comma == std::string::npos) return "";
    begin = comma + 1;
  }
}

Problem check_epochs(const std::string& value) {
  const auto colon = value.find(':');
  long long first = 0;
  long long end = 0;
  const bool numbers = colon != std::string::npos && parse(value.substr(0, colon), first) &&
                       parse(value.substr(colon + 1), end);
  if (!numbers) return "not A:B; 40:60 means 40 to 59";
  return first < end ? "" : "an empty range; 40:60 means 40 to 59";
}

}  // namespace flor::spank
