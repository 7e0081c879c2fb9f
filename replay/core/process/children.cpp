#include "core/process/children.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/base/parse_number.h"

namespace flor::core {
namespace {

constexpr std::uint64_t sigterm_bit = std::uint64_t{1} << (SIGTERM - 1);

// Clock ticks since the machine started, as /proc counts them.
std::uint64_t ticks_now() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return static_cast<std::uint64_t>(now.tv_sec) * per_second +
         static_cast<std::uint64_t>(now.tv_nsec) * per_second / 1'000'000'000;
}

// When this library was loaded. What the program has started is younger.
const std::uint64_t loaded_at = ticks_now();

// Returns nothing where it cannot be told. `process`: its directory in /proc.
std::optional<std::uint64_t> started_at(const std::filesystem::path& process) {
  std::ifstream file(process / "stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // A name, in brackets, may hold anything. Behind it stand the fields from the third on.
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
  constexpr int start = 22;
  std::string field;
  for (int i = 3; i <= start; ++i) fields >> field;
  return parse_number<std::uint64_t>(field);
}

// Does this file system list processes by the numbers that this process knows them by?
bool has_own_numbers(const std::filesystem::path& proc) {
  std::error_code ignored;
  return std::filesystem::read_symlink(proc / "self", ignored) == std::to_string(::getpid());
}

// `process`: its directory in /proc.
bool is_child_to_end(const std::filesystem::path& process, pid_t pid) {
  std::ifstream status(process / "status");
  std::string parent;
  std::string ignores;
  for (std::string line; std::getline(status, line);) {
    const std::string value = line.substr(std::min(line.find('\t') + 1, line.size()));
    if (line.rfind("PPid:", 0) == 0) parent = value;
    if (line.rfind("SigIgn:", 0) == 0) ignores = value;
  }
  if (parent != std::to_string(::getpid()) || ::getsid(pid) != ::getsid(0)) return false;
  if (started_at(process).value_or(0) < loaded_at) return false;
  std::uint64_t mask = 0;
  std::from_chars(ignores.data(), ignores.data() + ignores.size(), mask, 16);
  return (mask & sigterm_bit) == 0;
}

std::vector<pid_t> children_to_end() {
  const std::filesystem::path proc = "/proc";
  std::vector<pid_t> out;
  if (!has_own_numbers(proc)) return out;
  std::error_code unreadable;
  for (std::filesystem::directory_iterator at(proc, unreadable), end; !unreadable && at != end;
       at.increment(unreadable)) {
    const auto pid = parse_number<pid_t>(at->path().filename().string());
    if (pid && is_child_to_end(at->path(), *pid)) out.push_back(*pid);
  }
  return out;
}

// One that runs now would find the program's threads stopped in the middle of their work.
void drop_handler_of_ends() {
  struct sigaction present {};
  if (::sigaction(SIGCHLD, nullptr, &present) != 0) return;
  const bool is_ignored = (present.sa_flags & SA_SIGINFO) == 0 && present.sa_handler == SIG_IGN;
  if (!is_ignored) ::signal(SIGCHLD, SIG_DFL);
}

// Returns whether all of them are gone, but those of another user.
bool end_all_by(int signal, std::chrono::seconds patience) {
  const double until = monotonic_seconds() + std::chrono::duration<double>(patience).count();
  std::set<pid_t> told;
  std::set<pid_t> refused;
  while (true) {
    bool waits = false;
    for (const pid_t child : children_to_end()) {
      if (told.insert(child).second && ::kill(child, signal) != 0) refused.insert(child);
      const bool is_over = ::waitpid(child, nullptr, WNOHANG | __WALL) != 0;
      waits = waits || (!is_over && refused.count(child) == 0);
    }
    if (!waits) return true;
    if (monotonic_seconds() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

void end_children() {
  drop_handler_of_ends();
  if (!end_all_by(SIGTERM, std::chrono::seconds(2))) end_all_by(SIGKILL, std::chrono::seconds(5));
}

}  // namespace flor::core
