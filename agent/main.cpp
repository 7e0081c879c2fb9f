// The program flor-agent: connects the training processes of one user on one node with Redis.
#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <optional>
#include <thread>

#include "core/config/redis_setting.h"
#include "core/config/settings.h"
#include "log.h"
#include "server.h"

namespace {

struct Options {
  std::string socket, redis, local;
  bool on_demand = false, detach = false;
  int64_t lease_ms = 10000, idle_ms = 30000;
};

// Blocks SIGTERM, SIGINT and SIGHUP in all threads to come, and returns a signalfd that tells the main thread
// of them. Also ignores SIGPIPE.
int end_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&set, signal);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  const int fd = ::signalfd(-1, &set, SFD_CLOEXEC);
  if (fd < 0) throw flor::core::Error("signalfd failed");
  return fd;
}

// Redirects stderr to a log file. Empties it first if it is larger than 1 MiB.
void open_log(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return;
  struct stat info = {};
  constexpr off_t large = 1 << 20;
  if (::fstat(fd, &info) == 0 && info.st_size > large) [[maybe_unused]]
    const int cut = ::ftruncate(fd, 0);
  ::dup2(fd, STDERR_FILENO);
  ::close(fd);
}

// Takes the socket. A service waits until an agent that was started on demand has ended: systemd would not
// start it again. Returns nothing if another agent serves in this one's place, or if a signal says to end.
std::optional<flor::agent::Listener> take_socket(const Options& options, int signals) {
  if (options.on_demand || options.detach) return flor::agent::Listener::take(options.socket);
  constexpr int retry_ms = 500;
  for (bool said = false;; said = true) {
    if (auto listener = flor::agent::Listener::take(options.socket)) return listener;
    if (!said) flor::agent::log_line("waits: another agent serves " + options.socket);
    pollfd told{signals, POLLIN, 0};
    if (::poll(&told, 1, retry_ms) > 0) return std::nullopt;
  }
}

// Ends the process after 5 s, whatever hangs. A thread that waits for a store that hangs cannot be ended, and
// all that matters is done by now, or is in the store.
void end_in_any_case() {
  std::thread([] {
    constexpr std::chrono::seconds patience(5);
    std::this_thread::sleep_for(patience);
    flor::agent::log_line("ends although a file system or Redis has not answered yet");
    ::_exit(0);
  }).detach();
}

// Runs the agent. `ready` is a pipe to the process that waits for the socket to answer; -1: no one waits.
void serve(const Options& options, int ready) {
  const int signals = end_signals();
  auto listener = take_socket(options, signals);
  if (!listener) return;
  if (ready >= 0) {
    open_log(options.socket + ".log");
    [[maybe_unused]] const ssize_t told = ::write(ready, "r", 1);
    ::close(ready);
  }
  flor::queue::QueueOptions queue;
  queue.lease = std::chrono::milliseconds(options.lease_ms);
  flor::agent::Spooler::Options spooling;
  spooling.known = options.socket + ".tiers";
  spooling.tier = options.local;
  spooling.service = !options.on_demand;
  flor::agent::Shared shared(options.redis, queue, spooling);
  flor::agent::ServerOptions server;
  if (options.on_demand) server.idle = std::chrono::milliseconds(options.idle_ms);
  flor::agent::log_line("serves " + options.socket);
  flor::agent::Server(std::move(*listener), shared, signals, server).run();
  end_in_any_case();
  flor::agent::log_line("ends");
}

// Runs the agent in a forked process, and returns the exit status for this one once the socket answers. So
// the agent is a grandchild of the program that starts it, which has no long-lived child to wait for. Call it
// before any thread is started.
int serve_in_background(const Options& options) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) throw flor::core::Error("pipe failed");
  const pid_t child = ::fork();
  if (child < 0) throw flor::core::Error("fork failed");
  if (child == 0) {
    ::close(pipe[0]);
    ::setsid();
    [[maybe_unused]] const int root = ::chdir("/");  // so that no file system stays in use
    serve(options, pipe[1]);
    return 0;
  }
  ::close(pipe[1]);
  char byte = 0;
  if (::read(pipe[0], &byte, 1) == 1) return 0;
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Options options;
    CLI::App app{
        "flor-agent: connects this user's training processes on this node with Redis. Fetches work for "
        "replays, reports progress, and copies checkpoints to the store. It is started when needed; you "
        "rarely start it by hand."};
    app.set_version_flag("--version", std::string("flor-agent ") + FLOR_VERSION);
    options.socket = flor::core::agent_socket_path();
    const auto settings = flor::core::Settings::load();
    options.redis = flor::core::redis_url(settings).value_or("");
    options.local = settings.local().value_or("");
    app.add_option("--socket", options.socket, "The unix socket to serve")->capture_default_str();
    app.add_option("--redis", options.redis,
                   "The URL of Redis, for processes that give none (default: FLOR_REDIS, flor.conf)");
    app.add_option("--local", options.local,
                   "A directory (see flor record --local) whose checkpoints the agent copies to the store. "
                   "It also copies those of connected recordings (default: FLOR_LOCAL, flor.conf)");
    app.add_flag("--on-demand", options.on_demand, "End when no process has been connected for 30 s");
    app.add_flag("--detach", options.detach,
                 "Go to the background once the socket answers; log to SOCKET.log");
    app.add_option("--lease-ms", options.lease_ms, "For tests: length of a lease")
        ->envname("FLOR_LEASE_MS")
        ->check(CLI::Range(100, 600000))
        ->group("");
    app.add_option("--idle-ms", options.idle_ms, "For tests: what --on-demand waits")
        ->check(CLI::Range(1, 600000))
        ->group("");
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app.exit(error) == 0 ? 0 : 2;
    }
    if (!options.redis.empty()) flor::queue::RedisUrl::parse(options.redis);
    if (options.detach) return serve_in_background(options);
    serve(options, -1);
    return 0;
  } catch (const flor::core::UsageError& problem) {
    std::cerr << "flor-agent: " << problem.what() << '\n';
    return 2;
  } catch (const std::exception& problem) {
    std::cerr << "flor-agent: " << problem.what() << '\n';
    return 1;
  }
}
