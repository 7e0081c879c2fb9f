// again_program: puts more into its environment than can be handed on, starts again, and says with what.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "core/process/process.h"

int main() {
  const char* again = std::getenv("FLOR_AGAIN");
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
