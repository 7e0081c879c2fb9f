// The HTTP server behind `flor serve`: HTTP/1.1, for the few people who look at one store.
//
// Built on Boost.Beast. cpp-httplib, as Debian 12 has it, gives every viewer of an event stream a thread, and
// limits the time of a single read but not that of a request, nor the number of connections: a few slow
// clients would take all of its threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "dashboard/http/feed.h"
#include "dashboard/http/guard.h"
#include "dashboard/http/message.h"

namespace flor::dashboard {

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free one
  Guard guard{};
  // Further connections are closed at once.
  std::size_t most_connections = 256;
  // Seconds in which a client must send its request, and take the answer or the next events.
  double patience = 10;
  // Seconds between two signs of life on an event stream.
  double ping = 15;
};

class Server {
 public:
  // Answers what the guard lets through. Called on several threads at once. What it throws becomes an answer
  // with status 500.
  using Handler = std::function<Response(const Request&)>;

  // Listens at once. Sets feed.on_change(). Throws core::Error where the address cannot be used. `feed` must
  // outlive the server.
  Server(ServerOptions options, Handler handler, Feed& feed);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  // Answers until stop(). Must have returned before the server is destroyed. Call once.
  void run();
  // Any thread.
  void stop();

 private:
  class Work;
  struct Loop;
  std::shared_ptr<Work> work_;
  // Destroyed before work_: what it still holds belongs to connections, which hold work_.
  std::unique_ptr<Loop> loop_;
};

}  // namespace flor::dashboard
