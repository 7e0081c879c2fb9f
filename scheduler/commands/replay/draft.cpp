#include "commands/replay/draft.h"

#include <system_error>
#include <utility>

#include "core/files/durable.h"
#include "core/files/existence.h"

namespace flor::commands {

Draft::Draft(core::ReplayDir replay) : replay_(std::move(replay)) {
  core::create_directories_durably(replay_.workers());
}

Draft::~Draft() {
  std::error_code ignored;
  if (core::is_absent(replay_.plan())) core::fs::remove_all(replay_.path, ignored);
}

}  // namespace flor::commands
