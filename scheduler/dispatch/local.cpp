#include "dispatch/local.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <system_error>
#include <thread>

#include "core/base/error.h"
#include "core/config/settings.h"
#include "core/files/durable.h"
#include "core/process/above_streams.h"
#include "dispatch/process.h"

namespace flor::dispatch {
namespace {

std::size_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<std::size_t>(CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

std::vector<std::string> gpus_here() {
  if (!has_program("nvidia-smi")) return {};
  const Result listing = run({"nvidia-smi", "-L"});
  if (listing.code != 0) return {};
  return visible_gpus(listing.out, std::getenv("CUDA_VISIBLE_DEVICES"));
}

}  // namespace

// A process that leads the process group of the workers, and kills the whole group when this process is gone.
// Motivation: a worker may be a script that starts the training program. The death signal of prctl() would
// reach only the script; the group reaches both.
class LocalLauncher::Guard {
 public:
  Guard() {
    std::array<int, 2> ends{};
    if (!core::pipe_above_streams(ends.data())) {
      throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
    }
    pid_ = ::fork();
    if (pid_ == 0) watch(ends[0]);
    ::close(ends[0]);
    alive_ = ends[1];
    if (pid_ < 0) {
      const int error = errno;
      ::close(alive_);
      throw std::system_error(error, std::generic_category(), "cannot start a process");
    }
    ::setpgid(pid_, pid_);  // in both processes, so that the group exists before a worker joins it
  }

  ~Guard() {
    ::close(alive_);  // The guard reads end of file, and kills the rest of the group and itself.
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  pid_t group() const { return pid_; }

 private:
  // Runs in the forked process, so makes only async-signal-safe calls. Closes all inherited descriptors
  // except its end of the pipe.
  [[noreturn]] static void watch(int fd) {
    ::setpgid(0, 0);
    for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(signal, SIG_IGN);
    ::dup2(fd, 0);
    const int highest = static_cast<int>(std::min<long>(::sysconf(_SC_OPEN_MAX), 65536));
    for (int other = 1; other < highest; ++other) ::close(other);
    char byte = 0;
    while (true) {
      const ssize_t got = ::read(0, &byte, 1);
      if (got == 0 || (got < 0 && errno != EINTR)) break;
    }
    ::kill(0, SIGKILL);
    ::_exit(0);
  }

  pid_t pid_ = -1;
  int alive_ = -1;
};

LocalLauncher::LocalLauncher(WorkerOrder order) : order_(std::move(order)), gpus_(gpus_here()) {}

LocalLauncher::~LocalLauncher() {
  guard_.reset();
  for (auto& worker : workers_) {
    if (worker.alive) ::waitpid(worker.pid, nullptr, 0);
  }
}

std::size_t LocalLauncher::free_places() {
  return local_places(gpus_.size(), usable_cores(), order_.threads);
}

void LocalLauncher::start(std::size_t workers) {
  core::create_directories_durably(order_.replay.workers());
  if (!guard_) guard_ = std::make_unique<Guard>();
  for (std::size_t k = 0; k < workers; ++k) {
    const std::size_t number = workers_.size();
    Spawn what;
    what.command = order_.command;
    what.environment = worker_environment(order_);
    what.environment["FLOR_WORKER"] = std::to_string(number);  // makes workers on one node different
    if (!gpus_.empty()) what.environment["CUDA_VISIBLE_DEVICES"] = gpus_[number % gpus_.size()];
    what.output = order_.replay.workers() / ("worker-" + std::to_string(number) + ".out");
    what.group = guard_->group();
    Worker worker;
    std::error_code absent;
    const auto size = fs::file_size(what.output, absent);
    worker.offset = absent ? 0 : size;
    worker.output = what.output;
    worker.pid = spawn(what);
    workers_.push_back(worker);
  }
}

Liveness LocalLauncher::liveness() {
  Liveness out;
  for (auto& worker : workers_) {
    if (!worker.alive) continue;
    int status = 0;
    const pid_t gone = ::waitpid(worker.pid, &status, WNOHANG);
    if (gone == worker.pid) {
      worker.alive = false;
      worker.code = exit_code_of(status);
    } else {
      ++out.running;
    }
  }
  return out;
}

std::string LocalLauncher::describe() const {
  const std::size_t n = workers_.size();
  return std::to_string(n) + (n == 1 ? " process" : " processes") + " on " + core::node_name();
}

std::string LocalLauncher::failure_tail() {
  for (auto worker = workers_.rbegin(); worker != workers_.rend(); ++worker) {
    if (worker->alive || worker->code == 0) continue;
    const std::string how = worker->code > 128
                                ? " (ended by signal " + std::to_string(worker->code - 128) + ")"
                                : " (exit code " + std::to_string(worker->code) + ")";
    const std::string tail = tail_of(worker->output, 10, worker->offset);
    return worker->output.string() + how + ":\n" + (tail.empty() ? "(it wrote nothing)" : tail);
  }
  return "";
}

void LocalLauncher::cancel() {
  if (!guard_) return;
  ::kill(-guard_->group(), SIGTERM);  // the guard itself ignores it
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (liveness().any() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  guard_.reset();  // kills what is left
  for (auto& worker : workers_) {
    int status = 0;
    if (worker.alive && ::waitpid(worker.pid, &status, 0) == worker.pid) {
      worker.alive = false;
      worker.code = exit_code_of(status);
    }
  }
}

std::vector<std::string> visible_gpus(const std::string& listing, const char* visible) {
  std::vector<std::string> out;
  if (visible != nullptr) {
    // The user or Slurm chose the devices, by number or by another name. As in CUDA, an empty or negative
    // entry ends the list.
    std::istringstream in(visible);
    for (std::string one; std::getline(in, one, ',');) {
      if (one.empty() || one.front() == '-') break;
      out.push_back(one);
    }
    return out;
  }
  std::istringstream in(listing);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("GPU ", 0) == 0) out.push_back(std::to_string(out.size()));
  }
  return out;
}

std::size_t local_places(std::size_t gpus, std::size_t cores, const std::string& threads) {
  if (gpus > 0) return gpus;
  const long wanted = std::strtol(threads.c_str(), nullptr, 10);
  return std::max<std::size_t>(1, cores / static_cast<std::size_t>(std::max(wanted, 1L)));
}

}  // namespace flor::dispatch
