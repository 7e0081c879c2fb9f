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
constexpr int retry_ms = 100;          // between two looks at links or a spooler that still work
constexpr int accept_pause_ms = 1000;  // after a connection could not be accepted for lack of descriptors

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

// Returns the entries for poll: the signals, the listener, the answers, and then two for each connection, its
// socket and its process. serve() expects this order.
std::vector<pollfd> Server::wanted() const {
  const bool accepting =
      connections_.size() < most_connections && std::chrono::steady_clock::now() >= accept_at_;
  std::vector<pollfd> out;
  out.push_back({signals_, POLLIN, 0});
  out.push_back({accepting ? listener_.fd() : -1, POLLIN, 0});
  out.push_back({shared_.answers.fd(), POLLIN, 0});
  for (const auto& [id, connection] : connections_) {
    // Do not read from a peer that waits for an answer, or that has not read its last answer yet. poll skips
    // negative descriptors.
    const short events = connection->out.empty() ? POLLIN : POLLOUT;
    out.push_back({connection->busy ? -1 : connection->peer.socket.get(), events, 0});
    out.push_back({connection->peer.process.get(), POLLIN, 0});
  }
  return out;
}

int Server::patience() const {
  const auto now = std::chrono::steady_clock::now();
  if (links_left_) return retry_ms;
  if (accept_at_ > now) return accept_pause_ms;
  if (!options_.idle || !connections_.empty()) return -1;
  if (shared_.spooler.busy()) return retry_ms;
  const auto left = last_needed_ + *options_.idle - now;
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
    links_left_ = shared_.tend();
    const auto now = std::chrono::steady_clock::now();
    if (!connections_.empty() || shared_.spooler.busy()) last_needed_ = now;
    if (options_.idle && now >= last_needed_ + *options_.idle) {
      log_line("nobody needs this agent any more");
      break;
    }
  }
  // Do not release the leases: the living workers go on with them through the next agent.
  for (auto& [id, connection] : connections_) end(*connection, "");
  connections_.clear();
  for (auto& [key, link] : shared_.links) link->retry_now();
}

void Server::serve(const std::vector<pollfd>& ready) {
  std::size_t i = 3;
  for (auto& [id, connection] : connections_) {  // as wanted() listed them
    serve(*connection, ready[i], ready[i + 1]);
    i += 2;
  }
  if (ready[2].revents != 0) deliver();
  if (ready[1].revents != 0) accept();
}

void Server::serve(Connection& connection, const pollfd& socket, const pollfd& process) {
  try {
    if ((socket.revents & POLLOUT) != 0) send(connection);
    if ((socket.revents & (POLLIN | POLLHUP | POLLERR)) != 0) read(connection);
    if (process.revents != 0 && !connection.ended) {
      read(connection);  // its last requests; a child process of it may keep the socket open
      end(connection, "died");
    }
  } catch (const std::exception& problem) {
    log_line(connection.session->name() + ": " + problem.what());
    end(connection, std::string("was dropped: ") + problem.what());
  }
}

void Server::accept() {
  auto peer = listener_.accept();
  if (listener_.starved())
    accept_at_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(accept_pause_ms);
  if (!peer) return;
  const bool gone = peer->gone;
  auto connection = std::make_unique<Connection>(std::move(*peer), shared_, next_id_++);
  Connection& added = *connection;
  connections_[added.id] = std::move(connection);
  if (gone) end(added, "died");
}

void Server::read(Connection& connection) {
  std::array<char, 16384> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by recv
  while (!connection.ended && !connection.closing && !connection.busy && connection.out.empty()) {
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
  while (!connection.busy && !connection.closing) {
    const auto end = connection.in.find('\n', begin);
    if (end == std::string::npos) break;
    const std::string_view line(connection.in.data() + begin, end - begin);
    begin = end + 1;
    try {
      if (line.size() >= max_line) throw Refusal("a line is longer than 64 KiB");
      answer(connection, line);
    } catch (const Refusal& refusal) {
      refuse(connection, refusal.what());
    }
  }
  connection.in.erase(0, begin);
  if (connection.in.size() >= max_line && !connection.busy && !connection.closing)
    refuse(connection, "a line is longer than 64 KiB");
  send(connection);
}

void Server::answer(Connection& connection, std::string_view line) {
  const Request request = parse_request(line);
  if (const auto now = connection.session->answer_at_once(request)) {
    connection.out += *now + "\n";
    return;
  }
  connection.busy = true;
  connection.session->link()->post(
      [&answers = shared_.answers, session = connection.session, id = connection.id, request] {
        Answer answer{id, "", false};
        try {
          answer.line = session->answer(request);
        } catch (const std::exception& refusal) {
          log_line(session->name() + " is refused: " + refusal.what());
          answer = {id, refusal_line(refusal.what()), true};
        }
        answers.put(std::move(answer));
      });
}

// Drops the answers to connections that ended meanwhile.
void Server::deliver() {
  for (auto& answer : shared_.answers.take()) {
    const auto at = connections_.find(answer.connection);
    if (at == connections_.end() || at->second->ended) continue;
    Connection& connection = *at->second;
    connection.busy = false;
    connection.out += answer.line + "\n";
    connection.closing = answer.refused;
    answer_lines(connection);
  }
}

void Server::refuse(Connection& connection, const std::string& why) {
  log_line(connection.session->name() + " is refused: " + why);
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
  Link* const link = connection.session->link();
  if (link == nullptr) return;
  --link->sessions;
  link->post([session = connection.session, why] { session->end(why); });
}

void Server::sweep() {
  for (auto at = connections_.begin(); at != connections_.end();) {
    at = at->second->ended ? connections_.erase(at) : std::next(at);
  }
}

}  // namespace flor::agent
