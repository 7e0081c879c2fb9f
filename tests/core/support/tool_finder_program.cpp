// tool_finder_program DIRECTORY [FROM TO]: goes to a directory, moves a file, and prints where it finds the
// tools.
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>

std::string found_tool(const std::string& name);

int main(int argc, char** argv) {
  if (argc < 2 || ::chdir(argv[1]) != 0) return 2;
  if (argc > 3 && std::rename(argv[2], argv[3]) != 0) return 3;
  std::cout << found_tool("flor") << "|" << found_tool("flor-agent");
  return 0;
}
