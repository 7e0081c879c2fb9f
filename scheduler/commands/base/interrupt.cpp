#include "commands/base/interrupt.h"

namespace flor::commands {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t caught = 0;

void remember(int) {
  caught = 1;
}

}  // namespace

Interrupt::Interrupt() : before_{} {
  caught = 0;
  struct sigaction action = {};
  action.sa_handler = remember;
  for (int k = 0; k < 3; ++k) {
    ::sigaction(kSignals[k], &action, &before_[k]);
    if (before_[k].sa_handler == SIG_IGN) ::sigaction(kSignals[k], &before_[k], nullptr);  // nohup
  }
}

Interrupt::~Interrupt() {
  for (int k = 0; k < 3; ++k) ::sigaction(kSignals[k], &before_[k], nullptr);
}

bool Interrupt::happened() const {
  return caught != 0;
}

}  // namespace flor::commands
