// Where the results of a command go.
#pragma once

#include <cerrno>
#include <iostream>
#include <string_view>
#include <system_error>

#include "core/json.h"

namespace flor::commands {

// To stdout. A reader that went away (`flor log | head`) is no error; a full disk is. Throws
// std::system_error.
inline void print(std::string_view text) {
  errno = 0;
  std::cout << text << std::flush;
  if (!std::cout && errno != EPIPE)
    throw std::system_error(errno, std::generic_category(), "cannot write to stdout");
}

inline void print_json(const core::Json& json) {
  print(json.dump(2, ' ', false, core::Json::error_handler_t::replace) + "\n");
}

}  // namespace flor::commands
