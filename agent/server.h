// The agent's poll loop: connections, lines, and the end of processes.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "listener.h"
#include "session.h"

struct pollfd;

namespace flor::agent {

struct ServerOptions {
  // On demand: the loop ends when so long no connection was open. Nothing: only a signal ends it.
  std::optional<std::chrono::milliseconds> idle;
};

class Server {
 public:
  // `signals`: a signalfd that becomes readable when the agent shall end.
  Server(Listener listener, Shared& shared, int signals, ServerOptions options);

  // Until a signal comes or nobody needs the agent any more. Lets no exception of a single connection out.
  void run();

 private:
  struct Connection {
    Connection(Peer who, Shared& shared, uint64_t number)
        : peer(std::move(who)), id(number), session(std::make_shared<Session>(shared, number)) {}
    Peer peer;
    uint64_t id;
    std::shared_ptr<Session> session;  // its link's thread has it, too, while a request is under way
    std::string in, out;
    bool busy = false;     // a request is under way: nothing more is read
    bool closing = false;  // to be closed when `out` is sent
    bool ended = false;
  };

  std::vector<pollfd> wanted() const;
  int patience() const;  // ms that poll may wait; -1: for ever
  void serve(const std::vector<pollfd>& ready);
  void serve(Connection& connection, const pollfd& socket, const pollfd& process);
  void accept();
  void read(Connection& connection);
  void answer_lines(Connection& connection);
  void answer(Connection& connection, std::string_view line);
  void deliver();
  void refuse(Connection& connection, const std::string& why);
  void send(Connection& connection);
  void end(Connection& connection, const std::string& why);
  void sweep();

  Listener listener_;
  Shared& shared_;
  const int signals_;
  const ServerOptions options_;
  uint64_t next_id_ = 1;
  std::map<uint64_t, std::unique_ptr<Connection>> connections_;
  std::chrono::steady_clock::time_point last_needed_, accept_at_;
  bool links_left_ = false;  // that no session uses
};

}  // namespace flor::agent
