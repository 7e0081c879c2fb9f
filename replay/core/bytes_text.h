#pragma once

#include <cstdint>
#include <string>

namespace flor::core {

// For people: "812 B", "3.1 MB".
std::string bytes_text(std::uint64_t bytes);

}  // namespace flor::core
