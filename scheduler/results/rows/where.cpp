#include "results/rows/where.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "core/base/error.h"

namespace flor::results {
namespace {

using Operator = Condition::Operator;

// Longer operators first: `<=` begins with `<`.
const std::pair<const char*, Operator> operators[] = {{"<=", Operator::at_most}, {">=", Operator::at_least},
                                                      {"==", Operator::equal},   {"!=", Operator::unequal},
                                                      {"<", Operator::less},     {">", Operator::more}};

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string text_of(double value) {
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return core::json_text(core::Json(value));
}

// Returns the numbers of this name inside the main loop, each with its iteration.
std::vector<std::pair<int64_t, double>> numbers_of(const std::vector<results::Row>& record,
                                                   const core::Manifest& manifest, const std::string& name) {
  std::vector<std::pair<int64_t, double>> out;
  const core::RecordedLoop* main = manifest.main_loop();
  for (const auto& row : record) {
    if (row.name != name || main == nullptr) continue;
    const auto loops = results::scope_loops(row.at);
    if (loops.empty() || loops.front().first != main->name) continue;
    if (const auto number = number_in(row)) out.emplace_back(loops.front().second, *number);
  }
  return out;
}

}  // namespace

std::optional<double> number_in(const results::Row& row) {
  return core::number_in(row.value);
}

bool Condition::holds(double recorded) const {
  const bool same = recorded == value || (std::isnan(recorded) && std::isnan(value));
  switch (op) {
    case Operator::less:
      return recorded < value;
    case Operator::at_most:
      return recorded <= value;
    case Operator::more:
      return recorded > value;
    case Operator::at_least:
      return recorded >= value;
    case Operator::equal:
      return same;
    case Operator::unequal:
      break;
  }
  return !same;
}

std::optional<WrittenCondition> split_condition(const std::string& text) {
  for (const auto& [symbol, op] : operators) {
    const auto at = text.find(symbol);
    if (at == std::string::npos) continue;
    WrittenCondition out{trimmed(text.substr(0, at)), op,
                         trimmed(text.substr(at + std::string(symbol).size()))};
    if (out.name.empty() || out.value.empty()) break;
    return out;
  }
  return std::nullopt;
}

std::vector<std::string> split_conditions(const std::string& written) {
  static const std::string with = " and ";
  const std::string text = written + ' ';  // so that an "and" at the end leaves something empty behind it
  std::vector<std::string> out;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + with.size()) {
    end = text.find(with, begin);
    out.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return out;
}

Condition parse_condition(const std::string& text) {
  if (const auto written = split_condition(text)) {
    if (const auto value = core::number_from(written->value)) return {written->name, written->op, *value};
  }
  throw core::UsageError(
      "--where: '" + text +
      "' is no condition: write NAME OP NUMBER, as in 'loss > 2' or 'loss == NaN'; OP is one of "
      "< <= > >= == !=");
}

std::vector<int64_t> values_where(const std::vector<results::Row>& record, const core::Manifest& manifest,
                                  const Condition& condition) {
  const auto numbers = numbers_of(record, manifest, condition.name);
  if (numbers.empty())
    throw core::UsageError("--where: the record has no numbers named '" + condition.name +
                           "'; flor log RUN shows the names");
  std::set<int64_t> values;
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const auto& [value, number] : numbers) {
    if (condition.holds(number)) values.insert(value);
    least = std::min(least, std::isnan(number) ? least : number);
    most = std::max(most, std::isnan(number) ? most : number);
  }
  if (values.empty()) {
    const std::string seen =
        least > most ? "is NaN throughout" : "lies between " + text_of(least) + " and " + text_of(most);
    throw core::UsageError("--where holds for no iteration: " + condition.name + " " + seen);
  }
  return {values.begin(), values.end()};
}

}  // namespace flor::results
