#include "dispatch/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <system_error>

#include "core/base/error.h"
#include "core/config/settings.h"
#include "core/files/descriptor.h"
#include "core/files/trusted_file.h"
#include "core/process/above_streams.h"

namespace flor::dispatch {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

struct Pipe {
  int read = -1, write = -1;

  Pipe() {
    std::array<int, 2> ends{};
    if (!core::pipe_above_streams(ends.data())) fail("cannot make a pipe");
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    close_end(read);
    close_end(write);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  static void close_end(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
};

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const auto& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> lines_of(const Environment& environment) {
  std::vector<std::string> out;
  out.reserve(environment.size());
  for (const auto& [name, value] : environment) {
    out.push_back(name);
    out.back().append("=").append(value);
  }
  return out;
}

// All that the child needs, prepared before fork(): after it, only async-signal-safe calls are allowed.
struct Prepared {
  std::vector<std::string> variables;
  std::vector<char*> arguments, environment;
  std::string program;
  int in = -1, out = -1, err = -1;  // −1: that of this process
  pid_t group = -1, parent = 0;
  bool die_with_us = false;
  bool closed_to_others = false;
};

// Runs the program in the child. Returns only after a failure, with errno set.
void become(const Prepared& child) {
  if (child.die_with_us) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != child.parent) ::_exit(127);  // the parent died before prctl()
  }
  if (child.closed_to_others) ::umask(077);
  if (child.group >= 0) ::setpgid(0, child.group);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // Reset only the signals that flor itself ignores. exec resets handled signals, and a signal that was
  // ignored before flor started must stay ignored (nohup).
  for (int signal : {SIGPIPE, SIGCHLD}) ::signal(signal, SIG_DFL);
  if (child.in >= 0 && ::dup2(child.in, STDIN_FILENO) < 0) return;
  if (child.out >= 0 && ::dup2(child.out, STDOUT_FILENO) < 0) return;
  if (child.err >= 0 && ::dup2(child.err, STDERR_FILENO) < 0) return;
  ::execve(child.program.c_str(), child.arguments.data(), child.environment.data());
}

Prepared prepare(const std::vector<std::string>& command, const Environment& environment) {
  Prepared child;
  child.program = find_program(command.at(0)).string();
  child.variables = lines_of(environment);
  child.arguments = pointers_to(command);
  child.environment = pointers_to(child.variables);
  child.parent = ::getpid();
  return child;
}

pid_t start(const Prepared& child) {
  Pipe failure;  // the child's errno; closed by a successful exec
  const pid_t pid = ::fork();
  if (pid < 0) fail("cannot start a process");
  if (pid == 0) {
    become(child);
    const int error = errno;
    [[maybe_unused]] const ssize_t told = ::write(failure.write, &error, sizeof error);
    ::_exit(127);
  }
  Pipe::close_end(failure.write);
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(failure.read, &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof error) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    throw core::Error("cannot run " + child.program + ": " + std::strerror(error));
  }
  return pid;
}

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

int milliseconds_until(const Deadline& deadline) {
  if (!deadline) return -1;
  const auto left = *deadline - std::chrono::steady_clock::now();
  return static_cast<int>(std::max<std::chrono::milliseconds::rep>(
      0, std::chrono::ceil<std::chrono::milliseconds>(left).count()));
}

// Reads both pipes until they are closed. Returns false if the deadline comes first.
bool drain(Pipe& out, Pipe& err, Result& result, const Deadline& deadline) {
  std::array<char, 4096> buffer{};
  while (out.read >= 0 || err.read >= 0) {
    std::array<pollfd, 2> ends{{{out.read, POLLIN, 0}, {err.read, POLLIN, 0}}};
    const int ready = ::poll(ends.data(), ends.size(), milliseconds_until(deadline));
    if (ready == 0) return false;
    if (ready < 0) {
      if (errno == EINTR) continue;
      fail("cannot read from a program");
    }
    for (auto& end : ends) {
      if (end.fd < 0 || end.revents == 0) continue;
      const ssize_t got = ::read(end.fd, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got > 0)
        (end.fd == out.read ? result.out : result.err).append(buffer.data(), static_cast<std::size_t>(got));
      if (got <= 0) Pipe::close_end(end.fd == out.read ? out.read : err.read);
    }
  }
  return true;
}

bool is_executable(const fs::path& path) {
  std::error_code ignored;
  return !fs::is_directory(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

fs::path on_path(const std::string& name) {
  std::istringstream path(core::environment_variable("PATH").value_or("/usr/local/bin:/usr/bin:/bin"));
  for (std::string part; std::getline(path, part, ':');) {
    // Not from the working directory, where another user may have put a program of that name.
    if (part.empty() || part.front() != '/') continue;
    fs::path candidate = fs::path(part) / name;
    if (is_executable(candidate)) return candidate;
  }
  return {};
}

}  // namespace

Environment present_environment() {
  Environment out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string::npos) out.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

fs::path find_program(const std::string& name) {
  std::error_code ignored;
  if (name.find('/') == std::string::npos) {
    fs::path found = on_path(name);
    if (!found.empty()) return found;
    const std::string hint = is_executable(name) ? "; did you mean ./" + name + "?" : "";
    throw core::UsageError("there is no program '" + name + "' on PATH" + hint);
  }
  if (!fs::exists(name, ignored)) throw core::UsageError("there is no program " + name);
  if (!is_executable(name))
    throw core::UsageError(
        name + " is not an executable file: make it one with chmod +x, or name its interpreter in front");
  return name;
}

bool has_program(const std::string& name) {
  return !on_path(name).empty();
}

pid_t spawn(const Spawn& what) {
  Prepared child = prepare(what.command, what.environment);
  child.group = what.group;
  child.die_with_us = what.die_with_us;
  child.closed_to_others = what.closed_to_others;
  if (what.output.empty()) return start(child);
  const core::Descriptor in(core::above_streams(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
  const core::Descriptor out = core::open_regular_for(what.output, O_WRONLY | O_CREAT | O_APPEND);
  if (!in) fail("cannot open /dev/null");
  child.in = in.get();
  child.out = child.err = out.get();
  return start(child);
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result run(const std::vector<std::string>& command, const Environment& environment, Limit limit) {
  Deadline deadline;
  if (limit) deadline = std::chrono::steady_clock::now() + *limit;
  Pipe out;
  Pipe err;
  Prepared child = prepare(command, environment);
  child.out = out.write;
  child.err = err.write;
  child.die_with_us = true;  // no one else reads its answer
  const pid_t pid = start(child);
  Pipe::close_end(out.write);
  Pipe::close_end(err.write);
  Result result;
  const bool in_time = drain(out, err, result, deadline);
  if (!in_time) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) fail("cannot wait for " + command.front());
  }
  result.code = in_time ? exit_code_of(status) : kTimedOut;
  return result;
}

std::string tail_of(const fs::path& file, std::size_t lines, std::uintmax_t offset) {
  constexpr std::uintmax_t kAtMost = 16 << 10;
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (error || size <= offset) return "";
  std::string text = core::read_part(file, std::max(offset, size > kAtMost ? size - kAtMost : 0), kAtMost);
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  std::size_t at = text.size();
  for (std::size_t k = 0; k < lines && at != std::string::npos && at > 0; ++k) at = text.rfind('\n', at - 1);
  return at == std::string::npos || at == 0 ? text : text.substr(at + 1);
}

}  // namespace flor::dispatch
