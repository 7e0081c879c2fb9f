#pragma once

#include <optional>
#include <string>

namespace flor::core {

// "90", "90s", "1.5h", "30m", "2d" in seconds; nothing where it is no duration above 0.
std::optional<double> parse_duration(const std::string& text);

}  // namespace flor::core
