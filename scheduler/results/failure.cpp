#include "results/failure.h"

#include "core/files/durable.h"
#include "core/files/existence.h"
#include "core/files/json_lines.h"

namespace flor::results {

std::optional<Failure> read_failure(const core::ReplayDir& replay) {
  if (!core::existence_of(replay.failure()).value_or(false)) return std::nullopt;
  const std::string text =
      core::read_file(replay.failure(), core::document_limit, core::foreign_document_limit);
  const core::Json json = core::parse_json(text);
  // Earlier versions wrote "reason".
  return Failure{core::field<std::string>(json, "error", core::field<std::string>(json, "reason", text)),
                 core::field<bool>(json, "lacks_state", false)};
}

}  // namespace flor::results
