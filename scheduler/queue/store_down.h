// A store that fails for a while, as where the queue is built from it. It is waited for as a Redis that is
// away.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include "core/resuming/patience.h"
#include "queue/redis.h"

namespace flor::queue {

// The store cannot be used now, and the queue needs it. Trying again later may help.
class StoreDown : public RedisDown {
 public:
  using RedisDown::RedisDown;
};

// Returns what `call` returns. Where it throws a std::system_error that may pass, throws StoreDown: `what`,
// and the error. A full disk or quota counts, too: the workers hold results, and someone may make room.
template <class Call>
auto unless_store_is_down(const std::string& what, const Call& call) {
  try {
    return call();
  } catch (const std::system_error& problem) {
    const std::error_code& error = problem.code();
    const bool is_full = error == std::errc::no_space_on_device || error.value() == EDQUOT;
    if (!is_full && !core::may_pass(error)) throw;
    throw StoreDown(what + ": " + problem.what());
  }
}

}  // namespace flor::queue
