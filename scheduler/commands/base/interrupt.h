// Ctrl-C and friends, noticed between two looks at the replay.
#pragma once

#include <csignal>

namespace flor::commands {

// While it lives, SIGINT, SIGTERM and SIGHUP are remembered instead of ending the process. One object at a
// time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool happened() const;

 private:
  struct sigaction before_[3];
};

}  // namespace flor::commands
