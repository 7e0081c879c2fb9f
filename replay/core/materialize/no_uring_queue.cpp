#include "core/materialize/write_queue.h"

namespace flor::core {

std::unique_ptr<WriteQueue> make_uring_queue(unsigned) {
  return nullptr;
}

}  // namespace flor::core
