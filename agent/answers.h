// The way of answers from the threads that made them to the one that sends them.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/files/descriptor.h"

namespace flor::agent {

struct Answer {
  uint64_t connection = 0;
  std::string line;      // without its newline
  bool refused = false;  // the connection ends with it
};

// Thread-safe.
class Answers {
 public:
  Answers();  // throws core::Error

  void put(Answer answer);
  // Becomes readable when there are some.
  int fd() const { return event_.get(); }
  std::vector<Answer> take();

 private:
  core::Descriptor event_;
  std::mutex mutex_;
  std::vector<Answer> answers_;
};

}  // namespace flor::agent
