// Prints the results and messages of a command.
#pragma once

#include <cerrno>
#include <iostream>
#include <string_view>
#include <system_error>

#include "core/base/json.h"
#include "core/base/printable.h"

namespace flor::commands {

// Prints to stdout. Replaces control characters, because the text may come from another user. Throws
// std::system_error, for a full disk say, but not for a reader that went away (`flor log | head`).
inline void print(std::string_view text) {
  errno = 0;
  std::cout << core::printable_lines(text) << std::flush;
  if (!std::cout && errno != EPIPE)
    throw std::system_error(errno, std::generic_category(), "cannot write to stdout");
}

// Prints one or more lines to stderr, with "flor: " in front.
inline void print_error(std::string_view text) {
  std::cerr << "flor: " << core::printable_lines(text) << "\n";
}

inline void print_json(const core::Json& json) {
  print(json.dump(2, ' ', false, core::Json::error_handler_t::replace) + "\n");
}

}  // namespace flor::commands
