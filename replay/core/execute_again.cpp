#include "core/execute_again.h"

#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "core/session.h"

namespace flor::core {

void execute_again() {
  std::fflush(nullptr);
  auto words = command_line();
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (::chdir(start_directory().c_str()) == 0) ::execv("/proc/self/exe", argv.data());
}

}  // namespace flor::core
