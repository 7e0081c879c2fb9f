// Lets a command notice Ctrl-C and similar signals in its loop, instead of being ended by them.
#pragma once

#include <csignal>

namespace flor::commands {

// While the object lives, SIGINT, SIGTERM and SIGHUP do not end the process, but are remembered. Signals that
// were ignored before stay ignored. Only one object may live at a time.
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
