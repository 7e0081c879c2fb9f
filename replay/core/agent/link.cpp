#include "core/agent/link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/process/above_streams.h"

namespace flor::core {
namespace {

constexpr std::size_t longest_answer = std::size_t{64} * 1024;

int milliseconds_until(AgentLink::Time until) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  // Waits in slices of at most 100 ms, so that cancel() is noticed.
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 100));
}

}  // namespace

void AgentLink::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  in_.clear();
}

bool AgentLink::open() {
  close();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  fd_ = above_streams(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd_ < 0) return false;
  ucred who{};
  socklen_t size = sizeof who;
  // Checks who listens: anyone may create a socket in /tmp, and messages may contain the password of Redis.
  const bool fine = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                    ::getsockopt(fd_, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == ::getuid();
  if (!fine) close();
  return fine;
}

bool AgentLink::wait(short events, Time until) {
  for (;;) {
    pollfd fd{fd_, events, 0};
    const int ready = ::poll(&fd, 1, milliseconds_until(until));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (cancelled_ || std::chrono::steady_clock::now() >= until) return false;
  }
}

bool AgentLink::send(const std::string& line, Time until) {
  std::size_t at = 0;
  while (at < line.size()) {
    const ssize_t size = ::send(fd_, line.data() + at, line.size() - at, MSG_NOSIGNAL);
    if (size > 0) {
      at += static_cast<std::size_t>(size);
    } else if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
      if (!wait(POLLOUT, until)) return false;
    } else {
      return false;
    }
  }
  return true;
}

std::optional<std::string> AgentLink::exchange(const std::string& line, Time until) {
  if (fd_ < 0) return std::nullopt;
  bool fine = send(line + "\n", until);
  while (fine) {
    if (const auto end = in_.find('\n'); end != std::string::npos) {
      std::string answer = in_.substr(0, end);
      in_.erase(0, end + 1);
      return answer;
    }
    std::array<char, 4096> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by recv
    fine = in_.size() <= longest_answer && wait(POLLIN, until);
    if (!fine) break;
    const ssize_t size = ::recv(fd_, buffer.data(), buffer.size(), 0);
    if (size > 0) in_.append(buffer.data(), static_cast<std::size_t>(size));
    fine = size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
  }
  close();
  return std::nullopt;
}

bool AgentLink::ended() const {
  char byte = 0;
  const ssize_t size = fd_ < 0 ? 0 : ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
}

}  // namespace flor::core
