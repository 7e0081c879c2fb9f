#include "dashboard/serve.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/base/messages.h"
#include "dashboard/data/metrics.h"
#include "dashboard/data/routes.h"
#include "dashboard/data/runs.h"
#include "dashboard/http/server.h"
#include "dashboard/pause.h"

namespace flor::dashboard {
namespace {

// After a minute without viewers the server looks at the store only every ten seconds.
// Motivation: a server that its user forgot must not keep a file server busy.
constexpr auto unasked_after = std::chrono::seconds(60);
constexpr auto look_unasked_every = std::chrono::seconds(10);

void publish(const Runs& runs, const core::Json& changes, Feed& feed) {
  feed.publish(runs.snapshot_text(), core::json_text(changes));
}

Response answer(const Request& request, Routes& routes, const Metrics& metrics, const Feed& feed) {
  if (request.target.path != "/metrics") return routes.answer(request);
  return {200, "text/plain; version=0.0.4; charset=utf-8", metrics.text(*feed.snapshot())};
}

// Runs the server on a thread of its own.
class Answering {
 public:
  explicit Answering(Server& server) : server_(server), thread_([&server] { server.run(); }) {}
  ~Answering() {
    server_.stop();
    thread_.join();
  }
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;

 private:
  Server& server_;
  std::thread thread_;
};

}  // namespace

void serve(const core::Store& store, const ServeOptions& options,
           const std::function<void(std::uint16_t)>& ready, const std::function<bool()>& stopped) {
  Feed feed;
  Routes routes(store);
  const Metrics metrics(store);
  ServerOptions server_options;
  server_options.address = options.address;
  server_options.port = options.port;
  server_options.guard = {options.token, options.metrics_token, options.names};
  Server server(
      server_options, [&](const Request& request) { return answer(request, routes, metrics, feed); }, feed);
  Runs runs(store);
  publish(runs, runs.refresh(), feed);
  const Answering answering(server);
  ready(server.port());
  std::string told;
  while (!stopped()) {
    const auto began = std::chrono::steady_clock::now();
    try {
      const core::Json changes = runs.refresh();
      if (!changes.is_null()) publish(runs, changes, feed);
    } catch (const std::exception& problem) {
      if (std::exchange(told, problem.what()) != problem.what()) core::warn("cannot read the store: " + told);
    }
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto pause_end = now() + pause_after(now() - began, routes.seconds());
    while (!stopped() && now() < pause_end) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto unasked_end = began + look_unasked_every;
    while (!stopped() && now() < unasked_end && !feed.was_asked_within(unasked_after))
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace flor::dashboard
