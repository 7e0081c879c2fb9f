#include "agent/processes.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "core/files/durable.h"

namespace flor::test {
namespace fs = std::filesystem;

Child::Child(const std::vector<std::string>& words, int input, int output, const fs::path& errors) {
  std::vector<std::string> copy = words;
  std::vector<char*> argv;
  for (auto& word : copy) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(input >= 0 ? input : null, 0);
  ::dup2(output >= 0 ? output : null, 1);
  const int log = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(log >= 0 ? log : null, 2);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

Child::~Child() {
  if (pid_ <= 0) return;
  signal(SIGKILL);
  wait();
}

void Child::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

int Child::wait() {
  int status = 0;
  if (pid_ <= 0 || ::waitpid(pid_, &status, 0) != pid_) return -1;
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Agent::Agent(const fs::path& directory, std::vector<std::string> extra)
    : socket_((directory / "agent" / "a.sock").string()), log_(directory / "agent.stderr") {
  std::vector<std::string> words{FLOR_AGENT, "--socket", socket_};
  words.insert(words.end(), extra.begin(), extra.end());
  child_ = std::make_unique<Child>(words, -1, -1, log_);
  if (!eventually([this] { return listening(socket_) == child_->pid(); })) {
    throw std::runtime_error("flor-agent did not come up: " + log());
  }
}

std::string Agent::log() const {
  return fs::exists(log_) ? core::read_file(log_) : "";
}

pid_t Agent::listening(const std::string& socket) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket.data(), socket.size());
  ucred who{};
  socklen_t size = sizeof who;
  const bool up = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                  ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0;
  ::close(fd);
  return up ? who.pid : 0;
}

Worker::Worker(const std::string& name, const TestReplay& replay, const std::string& redis,
               const std::string& socket) {
  int in[2];
  int out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  child_ = std::make_unique<Child>(
      std::vector<std::string>{"/proc/self/exe", "worker", name, replay.run().path.string(),
                               replay.dir().id(), redis, socket},
      in[0], out[1], dir_.path() / "stderr");
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
}

Worker::~Worker() {
  ::close(to_);
  ::close(from_);
}

std::string Worker::read_line() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (;;) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    pollfd fd{from_, POLLIN, 0};
    ::poll(&fd, 1, 100);
    char bytes[4096];
    const ssize_t size = fd.revents != 0 ? ::read(from_, bytes, sizeof bytes) : -1;
    if (size > 0) buffer_.append(bytes, static_cast<std::size_t>(size));
    if (size == 0) throw std::runtime_error("the worker ended: " + core::read_file(dir_.path() / "stderr"));
    if (std::chrono::steady_clock::now() >= until) throw std::runtime_error("the worker does not answer");
  }
}

core::Json Worker::tell(const std::string& command) {
  const std::string line = command + "\n";
  if (::write(to_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    throw std::runtime_error("the worker is gone");
  }
  return core::Json::parse(read_line());
}

core::Json Worker::claim(int64_t from) {
  core::Json answer;
  eventually([&] {
    answer = tell("claim " + std::to_string(from));
    return answer["kind"] != "wait";
  });
  return answer;
}

}  // namespace flor::test
