// `--where 'loss > 2'`: the iterations of the main loop in which something was recorded. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/store/manifest.h"
#include "results/rows.h"

namespace flor::results {

// NAME OP NUMBER, OP one of < <= > >= == !=, NUMBER also NaN, Infinity and -Infinity; NaN equals NaN.
struct Condition {
  enum class Operator { less, at_most, more, at_least, equal, unequal };
  std::string name;
  Operator op = Operator::equal;
  double value = 0;

  bool holds(double recorded) const;
};

// Throws UsageError that shows the form.
Condition parse_condition(const std::string& text);

// The values of the main loop with a recorded row for which the condition holds, in order. Throws UsageError:
// no row has the name and is a number, or the condition holds nowhere; then with what there is.
std::vector<int64_t> values_where(const std::vector<results::Row>& record, const core::Manifest& manifest,
                                  const Condition& condition);

}  // namespace flor::results
