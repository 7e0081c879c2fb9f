// Tells want of room apart from other errors.
#pragma once

#include <cerrno>

namespace flor::core {

// Does this errno mean that a disk is full, or a quota used up?
inline bool is_full(int error) {
  return error == ENOSPC || error == EDQUOT;
}

}  // namespace flor::core
