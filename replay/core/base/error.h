// Exceptions whose text a user reads: one clear line that says what failed, where, and what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace flor::core {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Failed in this process, while another one, on another node perhaps, may manage: a file that could not be
// read or written, memory that was not there, what a front end says. Ends one worker of a replay, and not the
// replay.
class LocalError : public Error {
 public:
  using Error::Error;
};

// There is no memory to save a state now. There may be at the next time.
class NoRoom : public LocalError {
 public:
  using LocalError::LocalError;
};

// The request itself is wrong. The commands exit with code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace flor::core
