// A queue that takes answers from the threads of the links to the main thread (server.h), which sends them.
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
  bool refused = false;  // the connection is closed after it
};

// Thread-safe.
class Answers {
 public:
  Answers();  // throws core::Error

  void put(Answer answer);
  // A descriptor for poll: readable while there are answers.
  int fd() const { return event_.get(); }
  // Removes and returns all answers.
  std::vector<Answer> take();

 private:
  core::Descriptor event_;
  std::mutex mutex_;
  std::vector<Answer> answers_;
};

}  // namespace flor::agent
