// The agent's main loop: it polls the connections, splits what it reads into lines, and notices the end of
// peers.
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
  // An agent on demand ends after this time without a connection, and without files to bring. Without a
  // value, only a signal ends it.
  std::optional<std::chrono::milliseconds> idle;
};

class Server {
 public:
  // `signals`: a signalfd that becomes readable when the agent must end. `shared` must outlive it.
  Server(Listener listener, Shared& shared, int signals, ServerOptions options);

  // Serves until a signal comes, or until no one needs the agent any more. An exception that concerns one
  // connection ends only this connection.
  void run();

 private:
  struct Connection {
    Connection(Peer who, Shared& shared, uint64_t number)
        : peer(std::move(who)), id(number), session(std::make_shared<Session>(shared, number)) {}
    Peer peer;
    uint64_t id;
    std::shared_ptr<Session> session;  // shared with the link's thread while that answers a request
    std::string in, out;
    bool busy = false;     // the link's thread answers a request: read no more
    bool closing = false;  // close it when `out` is sent
    bool ended = false;    // sweep() removes it
  };

  std::vector<pollfd> wanted() const;
  int patience() const;  // how long poll may wait, in ms; -1: for ever
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
  bool links_left_ = false;  // there are links that no session uses, but that still work
};

}  // namespace flor::agent
