// Sizes and durations as people read and write them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace flor::core {

// Writes a size with decimal units: "812 B", "3.1 MB".
std::string bytes_text(std::uint64_t bytes);

// Writes a share: 0.0081 as "0.8 %".
std::string percent_text(double share);

// Writes a number with what it counts: "1 unit", "3 units".
std::string counted(std::uint64_t n, const std::string& what);

// Parses "812", "200M" or "1.5GB" into bytes. k, M, G and T are powers of 1000; Ki, Mi, Gi and Ti of 1024.
// Returns std::nullopt for any other text.
std::optional<std::uint64_t> parse_bytes(const std::string& text);

// Parses "90", "90s", "1.5h", "30m" or "2d" into seconds. Returns std::nullopt for any other text, and unless
// the duration is above 0.
std::optional<double> parse_duration(const std::string& text);

}  // namespace flor::core
