// Exceptions whose text a user reads: one clear line that says what failed, where, and what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace flor::core {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A file of the store could not be read or written. Another process, or the same one later, may manage.
class FileError : public Error {
 public:
  using Error::Error;
};

// The request itself is wrong. The commands exit with code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace flor::core
