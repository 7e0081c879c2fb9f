#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace flor::core {

// For people: "812 B", "3.1 MB".
std::string bytes_text(std::uint64_t bytes);

// From people: "812", "200M", "1.5GB" (k, M, G, T: powers of 1000; Ki, Mi, Gi, Ti: of 1024). Nothing when it
// is no such text.
std::optional<std::uint64_t> parse_bytes(const std::string& text);

}  // namespace flor::core
