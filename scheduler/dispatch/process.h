// Child processes: started without a shell, with an environment of their own.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace flor::dispatch {

namespace fs = std::filesystem;

using Environment = std::map<std::string, std::string>;
Environment present_environment();

// The file that execvp would run: as it is when it holds a '/', else from PATH.
// Throws core::UsageError: not found, or not executable.
fs::path find_program(const std::string& name);

// Is there such a program on PATH?
bool has_program(const std::string& name);

struct Spawn {
  std::vector<std::string> command;
  Environment environment;
  fs::path output;                // stdout and stderr are appended here, stdin is empty; empty: all as ours
  pid_t group = -1;               // process group to join; 0: one of its own; -1: ours
  bool die_with_us = false;       // killed when this process ends, however it ends
  bool closed_to_others = false;  // what it creates is open to its user alone, from the first moment on
};

// Returns the child's pid once its program runs. Throws core::Error when it cannot be executed.
pid_t spawn(const Spawn& what);

// The exit code of a waitpid() status; 128 + N for signal N, as shells have it.
int exit_code_of(int status);

struct Result {
  int code = 0;
  std::string out, err;
};

using Limit = std::optional<std::chrono::milliseconds>;

// Runs a program to its end and collects what it writes. What runs longer than the limit is killed, and its
// code is kTimedOut: for questions to a server that may hang, not for what changes something there.
constexpr int kTimedOut = 124;  // as timeout(1) has it
Result run(const std::vector<std::string>& command, const Environment& environment, Limit limit = {});
inline Result run(const std::vector<std::string>& command, Limit limit = {}) {
  return run(command, present_environment(), limit);
}

// The word as a POSIX shell reads it back.
std::string shell_quoted(const std::string& word);

// The last `lines` lines of a file from `offset` on, without empty ones at the end; "" if it cannot be read.
std::string tail_of(const fs::path& file, std::size_t lines, std::uintmax_t offset = 0);

}  // namespace flor::dispatch
