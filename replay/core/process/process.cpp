#include "core/process/process.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/messages.h"
#include "core/process/children.h"

namespace flor::core {
namespace {

std::string current_directory() {
  std::error_code ignored;
  return std::filesystem::current_path(ignored).string();
}

std::vector<std::string> words_of(const char* path) {
  std::vector<std::string> out;
  std::ifstream in(path, std::ios::binary);
  for (std::string word; std::getline(in, word, '\0');) out.push_back(word);
  return out;
}

const std::string started_in = current_directory();
// Read when the library is loaded: a program that sets its title writes over both.
const std::vector<std::string> started_with = words_of("/proc/self/cmdline");
const std::vector<std::string> environment_at_start = words_of("/proc/self/environ");

// Returns an argument or environment vector for execve(), valid as long as `words`.
std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const auto& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment_now() {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) out.emplace_back(*entry);
  return out;
}

bool is_flors(const std::string& variable) {
  return variable.rfind("FLOR_", 0) == 0;
}

}  // namespace

std::vector<std::string> command_line() {
  return started_with;
}

std::vector<std::string> first_environment() {
  return environment_at_start;
}

std::vector<std::string> environment_to_start_with(const std::vector<std::string>& at_start,
                                                   const std::vector<std::string>& present) {
  std::vector<std::string> out;
  for (const auto& variable : at_start) {
    if (!is_flors(variable)) out.push_back(variable);
  }
  for (const auto& variable : present) {
    if (is_flors(variable)) out.push_back(variable);
  }
  return out;
}

const std::string& start_directory() {
  return started_in;
}

void execute_again() {
  std::fflush(nullptr);
  const std::string& directory = start_directory();
  if (directory.empty() || ::chdir(directory.c_str()) != 0)
    warn("the directory that the program was started in is gone; it starts again in another one");
  end_children();
  const auto words = command_line();
  const auto present = environment_now();
  const auto argv = pointers_to(words);
  ::execve("/proc/self/exe", argv.data(), pointers_to(present).data());
  if (errno == E2BIG) {
    // The program has made its environment larger than execve() accepts.
    const auto first = environment_to_start_with(first_environment(), present);
    ::execve("/proc/self/exe", argv.data(), pointers_to(first).data());
  }
  warn(std::string("the program cannot be started again: ") + std::strerror(errno));
}

void leave_process(int code) {
  std::fflush(nullptr);
  ::_exit(code);
}

}  // namespace flor::core
