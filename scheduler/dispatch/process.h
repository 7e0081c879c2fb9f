// Starts child processes without a shell, for the launchers and the commands.
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

// Returns the environment of this process.
Environment present_environment();

// Returns the file that execvp would run: `name` itself if it has a '/', else the first match on PATH. Throws
// core::UsageError if there is none, or if it is not executable.
fs::path find_program(const std::string& name);

// Returns true if PATH has a program `name`.
bool has_program(const std::string& name);

struct Spawn {
  std::vector<std::string> command;
  Environment environment;
  // Appends stdout and stderr to this file, with an empty stdin. Without a file, the child has those of this
  // process.
  fs::path output;
  pid_t group = -1;               // process group to join; 0: a new one; -1: that of this process
  bool die_with_us = false;       // killed when the thread that started it, or this process, ends
  bool closed_to_others = false;  // starts with umask 077: only its user can open the files that it creates
};

// Starts the program and returns its pid. The caller must wait for the child. Throws core::Error if the
// program cannot be executed.
pid_t spawn(const Spawn& what);

// Returns the exit code in a waitpid() status; 128 + N for signal N, as shells do.
int exit_code_of(int status);

struct Result {
  int code = 0;
  std::string out, err;
};

using Limit = std::optional<std::chrono::milliseconds>;

// The code of a program that exceeded its limit, as timeout(1) returns it.
constexpr int kTimedOut = 124;

// Runs a program to its end, and collects its output. Kills it after `limit`, and returns kTimedOut as its
// code. Use a limit for questions to a server that may hang, and not for a program that changes something
// there. Throws core::Error if the program cannot be executed.
Result run(const std::vector<std::string>& command, const Environment& environment, Limit limit = {});
inline Result run(const std::vector<std::string>& command, Limit limit = {}) {
  return run(command, present_environment(), limit);
}

// Returns the last `lines` lines of a file, from byte `offset` on and from its last 16 KiB at most, without
// empty lines at the end; "" if it cannot be read.
std::string tail_of(const fs::path& file, std::size_t lines, std::uintmax_t offset = 0);

}  // namespace flor::dispatch
