#pragma once

#include <string>

namespace flor::spank {

// What is wrong and what to do about it, in words for the user; empty: nothing.
using Problem = std::string;

// Of the value of --flor-KEY alone. All but that of the store have the form that the commands and the library
// know as well (core/config/values.h).
Problem check_value(const std::string& key, const std::string& value);

}  // namespace flor::spank
