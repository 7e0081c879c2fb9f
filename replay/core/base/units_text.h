// Sizes and durations as people read and write them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace flor::core {

// "812 B", "3.1 MB".
std::string bytes_text(std::uint64_t bytes);

// "812", "200M", "1.5GB" (k, M, G, T: powers of 1000; Ki, Mi, Gi, Ti: of 1024). Nothing when it is no such
// text.
std::optional<std::uint64_t> parse_bytes(const std::string& text);

// "90", "90s", "1.5h", "30m", "2d" in seconds; nothing where it is no duration above 0.
std::optional<double> parse_duration(const std::string& text);

}  // namespace flor::core
