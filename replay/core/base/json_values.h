// Counts the values of JSON texts without parsing them. Motivation: a parsed value takes some 16 to 60 bytes,
// however short its text is, and another user may have written the text.
#pragma once

#include <cstddef>
#include <string_view>

namespace flor::core {

// What a value counts for at least where the bytes of texts are limited: about what its text has in a row.
inline constexpr std::size_t bytes_a_value = 8;

// Returns how many values a JSON text has, or several in lines, each of which may be an object's or an
// array's as well.
std::size_t values_in(std::string_view text);

// Returns what such a text counts for where bytes are limited.
std::size_t charged_bytes(std::string_view text);

}  // namespace flor::core
