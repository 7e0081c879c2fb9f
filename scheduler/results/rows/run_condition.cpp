#include "results/rows/run_condition.h"

#include <cstdint>

#include "core/base/error.h"
#include "core/base/parse_number.h"

namespace flor::results {

std::vector<WrittenCondition> parse_run_conditions(const std::string& text) {
  std::vector<WrittenCondition> out;
  for (const auto& one : split_conditions(text)) {
    auto condition = split_condition(one);
    if (!condition) {
      throw core::UsageError(
          "--runs: '" + one +
          "' is no condition: write NAME OP VALUE, as in 'lr < 0.01' or 'model == resnet'; OP "
          "is one of < <= > >= == !=");
    }
    out.push_back(std::move(*condition));
  }
  return out;
}

std::optional<std::string> argument(const core::Manifest& manifest, const std::string& name) {
  static const std::string prefix = "arg.";
  auto found = manifest.args.find(name);
  if (found == manifest.args.end() && name.rfind(prefix, 0) == 0)
    found = manifest.args.find(name.substr(prefix.size()));
  if (found == manifest.args.end()) return std::nullopt;
  return found->second;
}

bool holds(const WrittenCondition& condition, const std::string& value) {
  const auto wanted_whole = core::parse_number<int64_t>(condition.value);
  const auto whole = core::parse_number<int64_t>(value);
  if (wanted_whole && whole) {  // a double could not tell two seeds apart
    const int order = (*whole > *wanted_whole) - (*whole < *wanted_whole);
    return Condition{condition.name, condition.op, 0}.holds(order);
  }
  const auto wanted = core::number_from(condition.value);
  const auto number = core::number_from(value);
  if (wanted && number) return Condition{condition.name, condition.op, *wanted}.holds(*number);
  if (condition.op == Condition::Operator::equal) return value == condition.value;
  return condition.op == Condition::Operator::unequal && value != condition.value;
}

}  // namespace flor::results
