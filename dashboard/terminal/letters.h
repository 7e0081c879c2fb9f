// Lines of UTF-8 by letters. Pure.
#pragma once

#include <cstddef>
#include <string>

namespace flor::dashboard {

// Cuts a line to so many letters.
std::string cut(const std::string& line, std::size_t width);

// Cuts it, or adds blanks, so that it has so many letters.
std::string padded(const std::string& line, std::size_t width);

}  // namespace flor::dashboard
