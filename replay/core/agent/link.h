// A connection to the agent, line by line; and how an agent is started. What is said: core/agent/client.h.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

namespace flor::core {

// Not thread-safe, but for cancel(). Never throws for what the other side does, never raises SIGPIPE.
class AgentLink {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit AgentLink(std::string socket) : socket_(std::move(socket)) {}
  ~AgentLink() { close(); }
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  // False when no agent of this user listens.
  bool open();
  bool is_open() const { return fd_ >= 0; }
  void close();

  // Sends a line (without its newline) and returns the one that answers. Nothing, and the link is closed,
  // when the agent goes away or `until` comes: an answer that comes late would be taken for the next one's.
  std::optional<std::string> exchange(const std::string& line, Time until);

  // Has the agent closed the connection? Never blocks.
  bool ended() const;

  // Makes an exchange in another thread end soon.
  void cancel(bool on) { cancelled_ = on; }

  const std::string& socket() const { return socket_; }

 private:
  bool wait(short events, Time until);
  bool send(const std::string& line, Time until);

  std::string socket_;
  int fd_ = -1;
  std::string in_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace flor::core
