#include "listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/agent/socket.h"
#include "core/base/error.h"
#include "log.h"

namespace flor::agent {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw core::Error(what + ": " + std::strerror(errno));
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// pidfd_open(2) needs Linux 5.3. Without it, the death of a process shows as the end of its connection.
Descriptor watch_process(pid_t pid, bool* gone) {
#ifdef SYS_pidfd_open
  if (pid > 0) {
    const auto fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    *gone = fd < 0 && errno == ESRCH;
    return Descriptor(fd);
  }
#endif
  return Descriptor();
}

}  // namespace

Listener::Listener(std::string path, core::FileLock lock, Descriptor socket)
    : path_(std::move(path)), lock_(std::move(lock)), socket_(std::move(socket)) {}

Listener::~Listener() {
  if (socket_) ::unlink(path_.c_str());
}

std::optional<Listener> Listener::take(const std::string& path) {
  core::prepare_agent_directory(path);
  const sockaddr_un address = address_of(path);
  auto lock = core::FileLock::try_take(path + ".lock");
  if (!lock) return std::nullopt;
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) fail("cannot make a socket");
  ::unlink(path.c_str());  // left by an agent that was killed: the holder of the lock owns the name
  const mode_t mask = ::umask(0177);
  const int bound = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::umask(mask);
  if (bound != 0) fail("cannot bind " + path);
  if (::listen(socket.get(), 128) != 0) fail("cannot listen on " + path);
  return Listener(path, std::move(*lock), std::move(socket));
}

std::optional<Peer> Listener::accept() {
  Peer peer;
  peer.socket = Descriptor(::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!peer.socket && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
    if (!starved_) {
      log_line(std::string("no connection can be accepted until others end: ") + std::strerror(errno) +
               "; a larger limit (ulimit -n) helps");
    }
    starved_ = true;
    return std::nullopt;
  }
  if (!peer.socket) return std::nullopt;
  starved_ = false;
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(peer.socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != ::getuid()) {
    log_line("refused a connection of user " + std::to_string(who.uid));
    return std::nullopt;
  }
  peer.pid = who.pid;
  peer.process = watch_process(who.pid, &peer.gone);
  return peer;
}

}  // namespace flor::agent
