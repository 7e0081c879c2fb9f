// Errors that a user reads: one clear line that says what, where, and what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace flor::core {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Wrong usage: the request itself is at fault (exit code 2 of the commands).
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace flor::core
