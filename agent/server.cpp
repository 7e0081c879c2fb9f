#include "server.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <utility>

#include "log.h"

namespace flor::agent {
namespace {

constexpr std::size_t most_connections = 256;
constexpr int retry_ms = 100;  // while calls are remembered

bool failed_for_now() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

Server::Server(Listener listener, Shared& shared, int signals, ServerOptions options)
    : listener_(std::move(listener)),
      shared_(shared),
      signals_(signals),
      options_(options),
      last_needed_(std::chrono::steady_clock::now()) {}

// The signals, the listener, then two entries a connection: its socket and its process.
std::vector<pollfd> Server::wanted() const {
  std::vector<pollfd> out;
  out.push_back({signals_, POLLIN, 0});
  out.push_back({connections_.size() < most_connections ? listener_.fd() : -1, POLLIN, 0});
  for (const auto& [fd, connection] : connections_) {
    // Who does not read its answers is not read from.
    const short events = connection->out.empty() ? POLLIN : POLLOUT;
    out.push_back({fd, events, 0});
    out.push_back({connection->peer.process.get(), POLLIN, 0});  // poll skips negative ones
  }
  return out;
}

int Server::patience() const {
  if (shared_.pending()) return retry_ms;
  if (!options_.idle || !connections_.empty()) return -1;
  if (shared_.spooler.busy()) return retry_ms;
  const auto left = last_needed_ + *options_.idle - std::chrono::steady_clock::now();
  return std::max(0,
                  static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(left).count()) + 1);
}

void Server::run() {
  for (;;) {
    auto fds = wanted();
    const int count = ::poll(fds.data(), fds.size(), patience());
    if (count < 0 && errno != EINTR) throw core::Error("poll failed");
    if (count > 0) {
      if (fds[0].revents != 0) break;
      serve(fds);
    }
    sweep();
    shared_.tend();
    const auto now = std::chrono::steady_clock::now();
    if (!connections_.empty() || shared_.spooler.busy()) last_needed_ = now;
    if (options_.idle && now >= last_needed_ + *options_.idle) {
      log_line("nobody needs this agent any more");
      break;
    }
  }
  // Leases are left to the living workers: they go on with them through the next agent.
  for (auto& [fd, connection] : connections_) connection->session.end("");
  connections_.clear();
  for (auto& [key, link] : shared_.links) link->retry(true);
}

void Server::serve(const std::vector<pollfd>& ready) {
  for (std::size_t i = 2; i + 1 < ready.size(); i += 2) {
    Connection& connection = *connections_.at(ready[i].fd);
    try {
      if ((ready[i].revents & POLLOUT) != 0) send(connection);
      if ((ready[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) read(connection);
      if (ready[i + 1].revents != 0 && !connection.ended) {
        read(connection);  // what it said last; a child that it left may hold the socket open
        end(connection, "died");
      }
    } catch (const std::exception& problem) {
      log_line(connection.session.name() + ": " + problem.what());
      end(connection, std::string("was dropped: ") + problem.what());
    }
  }
  if (ready[1].revents != 0) accept();
}

void Server::accept() {
  auto peer = listener_.accept();
  if (!peer) return;
  const int fd = peer->socket.get();
  const bool gone = peer->gone;
  auto connection = std::make_unique<Connection>(std::move(*peer), shared_, next_id_++);
  Connection& added = *connection;
  connections_[fd] = std::move(connection);
  if (gone) end(added, "died");
}

void Server::read(Connection& connection) {
  std::array<char, 16384> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by recv
  while (!connection.ended && !connection.closing && connection.out.empty()) {
    const ssize_t size = ::recv(connection.peer.socket.get(), buffer.data(), buffer.size(), 0);
    if (size < 0 && failed_for_now()) return;
    if (size <= 0) {
      end(connection, "died");
      return;
    }
    connection.in.append(buffer.data(), static_cast<std::size_t>(size));
    answer_lines(connection);
  }
}

void Server::answer_lines(Connection& connection) {
  std::size_t begin = 0;
  for (auto end = connection.in.find('\n'); end != std::string::npos && !connection.closing;
       end = connection.in.find('\n', begin)) {
    const std::string_view line(connection.in.data() + begin, end - begin);
    begin = end + 1;
    if (line.size() >= max_line) {
      refuse(connection, "a line is longer than 64 KiB");
      break;
    }
    try {
      connection.out += connection.session.answer(line) + "\n";
    } catch (const Refusal& refusal) {
      refuse(connection, refusal.what());
    }
  }
  connection.in.erase(0, begin);
  if (connection.in.size() >= max_line && !connection.closing)
    refuse(connection, "a line is longer than 64 KiB");
  send(connection);
}

void Server::refuse(Connection& connection, const std::string& why) {
  log_line(connection.session.name() + " is refused: " + why);
  connection.out += refusal_line(why) + "\n";
  connection.closing = true;
}

void Server::send(Connection& connection) {
  while (!connection.out.empty()) {
    const ssize_t size =
        ::send(connection.peer.socket.get(), connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
    if (size < 0 && failed_for_now()) return;
    if (size <= 0) {
      end(connection, "died");
      return;
    }
    connection.out.erase(0, static_cast<std::size_t>(size));
  }
  if (connection.closing) end(connection, "was refused");
}

void Server::end(Connection& connection, const std::string& why) {
  if (connection.ended) return;
  connection.ended = true;
  connection.session.end(why);
}

void Server::sweep() {
  for (auto at = connections_.begin(); at != connections_.end();) {
    at = at->second->ended ? connections_.erase(at) : std::next(at);
  }
}

}  // namespace flor::agent
