// The values of settings as users write them. Nothing: the text is no such value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace flor::core {

// How many checkpoints of each kind are kept: a number from 1; "all" is 0.
std::optional<int64_t> keep_from(const std::string& text);

// inline, thread, fork, fork-batch or auto.
bool is_materializer(const std::string& text);

}  // namespace flor::core
