// A connection to the agent, for AgentClient. Sends a line and waits for the answer (docs/formats.md, "Agent
// protocol").
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

namespace flor::core {

// Not thread-safe, except cancel(). Errors of the other side do not throw. Never raises SIGPIPE.
class AgentLink {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit AgentLink(std::string socket) : socket_(std::move(socket)) {}
  ~AgentLink() { close(); }
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  // Connects. Returns false if no agent of this user listens.
  bool open();
  bool is_open() const { return fd_ >= 0; }
  void close();

  // Sends a line (without its newline) and returns the answer. Returns std::nullopt and closes the link if
  // the agent goes away or `until` passes: a late answer would be taken for the answer to the next line.
  std::optional<std::string> exchange(const std::string& line, Time until);

  // Returns whether the agent closed the connection. Never blocks.
  bool ended() const;

  // With `on`, ends an exchange of another thread that waits, within 100 ms. Holds for later exchanges, too,
  // until called with false.
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
