#include "core/base/process.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace flor::core {
namespace {

std::string current_directory() {
  std::error_code ignored;
  return std::filesystem::current_path(ignored).string();
}

const std::string started_in = current_directory();

}  // namespace

std::vector<std::string> command_line() {
  std::vector<std::string> out;
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  for (std::string word; std::getline(in, word, '\0');) out.push_back(word);
  return out;
}

const std::string& start_directory() {
  return started_in;
}

void execute_again() {
  std::fflush(nullptr);
  auto words = command_line();
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (::chdir(start_directory().c_str()) == 0) ::execv("/proc/self/exe", argv.data());
}

void leave_process(int code) {
  std::fflush(nullptr);
  ::_exit(code);
}

}  // namespace flor::core
