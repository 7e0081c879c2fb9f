// `--where 'loss > 2'`: conditions, and the iterations of the main loop that they select by recorded values.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/store/manifest.h"
#include "results/rows/rows.h"

namespace flor::results {

// NAME OP NUMBER. OP: one of < <= > >= == !=. NUMBER: also NaN, Infinity, -Infinity. NaN equals NaN.
struct Condition {
  enum class Operator { less, at_most, more, at_least, equal, unequal };
  std::string name;
  Operator op = Operator::equal;
  double value = 0;

  bool holds(double recorded) const;
};

// A condition with its value as it was written.
struct WrittenCondition {
  std::string name;
  Condition::Operator op = Condition::Operator::equal;
  std::string value;
};
// Returns std::nullopt where there is no operator, or nothing on one side of it.
std::optional<WrittenCondition> split_condition(const std::string& text);
// Returns the texts between " and ".
std::vector<std::string> split_conditions(const std::string& text);

// Returns the number that the row logged; std::nullopt if its value is none. NaN and infinities are numbers.
std::optional<double> number_in(const Row& row);

// Throws UsageError that shows the form.
Condition parse_condition(const std::string& text);

// Returns the main-loop values with a recorded row that meets the condition, in order. Throws UsageError if
// no row of the name is a number, or none meets the condition; the message names what there is.
std::vector<int64_t> values_where(const std::vector<results::Row>& record, const core::Manifest& manifest,
                                  const Condition& condition);

}  // namespace flor::results
