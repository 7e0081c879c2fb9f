// What a call says that it refuses.
#pragma once

#include <string>

#include "core/base/error.h"

namespace flor::core {

// Empty: it did not refuse. Any other exception passes.
template <class Call>
std::string refusal_of(Call call) {
  try {
    call();
  } catch (const UsageError& problem) {
    return problem.what();
  }
  return "";
}

}  // namespace flor::core
