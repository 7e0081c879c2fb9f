// again_program: puts more into its environment than can be handed on, starts again, and says with what.
// again_program children: starts children of several kinds, starts again, and says which of them still run,
// and whether the process whose number `older` in the environment names does.
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <string>

#include "core/process/process.h"

namespace {

void ignore(int) {}

struct Kind {
  const char* name;
  void (*prepare)();
};

const std::array<Kind, 4> kinds{{{"plain", [] {}},
                                 {"stubborn", [] { ::signal(SIGTERM, ignore); }},
                                 {"tracking", [] { ::signal(SIGTERM, SIG_IGN); }},
                                 {"detached", [] { ::setsid(); }}}};

// Returns when the child is as `prepare` makes it. A child in vain lives no longer than a test may take.
pid_t start(void (*prepare)()) {
  std::array<int, 2> ready{};
  if (::pipe(ready.data()) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    prepare();
    ::alarm(120);
    ::close(ready[0]);
    ::close(ready[1]);
    while (true) ::pause();
  }
  ::close(ready[1]);
  char none = 0;
  while (::read(ready[0], &none, 1) > 0) {
  }
  ::close(ready[0]);
  return child;
}

int start_again_with_children() {
  for (const Kind& kind : kinds) ::setenv(kind.name, std::to_string(start(kind.prepare)).c_str(), 1);
  ::setenv("FLOR_AGAIN", "yes", 1);
  flor::core::execute_again();
  return 1;
}

void tell_of(const char* name) {
  const pid_t child = std::atoi(std::getenv(name));
  const bool runs = ::kill(child, 0) == 0;
  std::cout << name << (runs ? " runs\n" : " is gone\n");
  if (runs) ::kill(child, SIGKILL);
}

int tell_of_children() {
  for (const Kind& kind : kinds) tell_of(kind.name);
  tell_of("older");
  return 0;
}

}  // namespace

int main(int count, char**) {
  const char* again = std::getenv("FLOR_AGAIN");
  if (count > 1) return again == nullptr ? start_again_with_children() : tell_of_children();
  if (again == nullptr) {
    ::setenv("FLOR_AGAIN", "yes", 1);
    ::unsetenv("FLOR_RECORD");
    ::setenv("GROWN", std::string(std::size_t{4} << 20, 'x').c_str(), 1);
    flor::core::execute_again();
    return 1;
  }
  const auto value = [](const char* name) {
    return std::string(std::getenv(name) ? std::getenv(name) : "none");
  };
  std::cout << value("KEPT") << " " << value("FLOR_RECORD") << " " << value("GROWN") << "\n";
}
