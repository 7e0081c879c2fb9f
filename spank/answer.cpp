#include "answer.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/files/descriptor.h"

namespace flor::spank {
namespace {

using core::Descriptor;
using Clock = std::chrono::steady_clock;

// Closes all other descriptors. An inherited one would keep srun waiting for the end of the task's output.
void close_all_but(int kept) {
  const int highest = static_cast<int>(std::min<long>(sysconf(_SC_OPEN_MAX), 65536));
  for (int fd = 0; fd < highest; ++fd) {
    if (fd != kept) close(fd);
  }
}

bool write_all(int fd, const void* bytes, std::size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = write(fd, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

// Runs in the new process. Writes its pid, then the answer, then a zero byte to mark that the answer is
// whole.
[[noreturn]] void answer(int fd, const std::function<std::string()>& ask) noexcept {
  try {
    setsid();
    close_all_but(fd);
    const pid_t self = getpid();
    if (write_all(fd, &self, sizeof self)) {
      const std::string text = ask();
      write_all(fd, text.data(), text.size());
      write_all(fd, "", 1);
    }
  } catch (...) {
    // The reader finds no zero byte, and so no answer.
  }
  _exit(0);
}

// Reads the pipe until its end, or until the deadline.
std::string read_until(int fd, Clock::time_point deadline) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{fd, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::max<long>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return text;
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::optional<std::string> answer_within(std::chrono::milliseconds limit,
                                         const std::function<std::string()>& ask) {
  const auto deadline = Clock::now() + limit;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const Descriptor in(ends[0]);
  Descriptor out(ends[1]);
  const pid_t between = fork();
  if (between == 0) {
    if (fork() == 0) answer(out.get(), ask);
    _exit(0);
  }
  out = Descriptor();
  if (between < 0) return std::nullopt;
  while (waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
  }
  const std::string text = read_until(in.get(), deadline);
  pid_t asked = 0;
  if (text.size() < sizeof asked) return std::nullopt;
  std::copy_n(text.data(), sizeof asked, reinterpret_cast<char*>(&asked));
  const bool whole = text.size() > sizeof asked && text.back() == '\0';
  if (whole) return text.substr(sizeof asked, text.size() - sizeof asked - 1);
  kill(asked, SIGKILL);
  return std::nullopt;
}

}  // namespace flor::spank
