// Where the results of a command go.
#pragma once

#include <cerrno>
#include <iostream>
#include <string_view>
#include <system_error>

#include "core/base/json.h"
#include "core/base/printable.h"

namespace flor::commands {

// To stdout, as printable text: it may hold what another user wrote. A reader that went away (`flor log |
// head`) is no error; a full disk is. Throws std::system_error.
inline void print(std::string_view text) {
  errno = 0;
  std::cout << core::printable_lines(text) << std::flush;
  if (!std::cout && errno != EPIPE)
    throw std::system_error(errno, std::generic_category(), "cannot write to stdout");
}

// One line of flor's, or more, to stderr.
inline void print_error(std::string_view text) {
  std::cerr << "flor: " << core::printable_lines(text) << "\n";
}

inline void print_json(const core::Json& json) {
  print(json.dump(2, ' ', false, core::Json::error_handler_t::replace) + "\n");
}

}  // namespace flor::commands
