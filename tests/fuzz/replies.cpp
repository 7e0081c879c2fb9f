#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "core/files/durable.h"
#include "core/store/plan.h"
#include "queue/queue.h"
#include "queue/redis_server.h"
#include "targets.h"

namespace flor::fuzz {
namespace {

// A server that answers whatever it is asked with one text.
class Server {
 public:
  explicit Server(const std::filesystem::path& socket) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket.string().copy(address.sun_path, sizeof address.sun_path - 1);
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_, 8) != 0)
      throw std::runtime_error("cannot listen");
    thread_ = std::thread([this] { serve(); });
  }
  ~Server() {
    over_ = true;
    thread_.join();
    ::close(listener_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void answer_with(const std::string& text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    answer_ = text;
  }

 private:
  void serve() {
    int client = -1;
    while (!over_) {
      pollfd wanted[2] = {{listener_, POLLIN, 0}, {client, POLLIN, 0}};
      if (::poll(wanted, client < 0 ? 1 : 2, 20) <= 0) continue;
      if ((wanted[0].revents & POLLIN) != 0) {
        if (client >= 0) ::close(client);
        client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        continue;
      }
      char question[65536];
      if (::recv(client, question, sizeof question, 0) <= 0) {
        ::close(client);
        client = -1;
        continue;
      }
      const std::lock_guard<std::mutex> lock(mutex_);
      [[maybe_unused]] const ssize_t sent = ::send(client, answer_.data(), answer_.size(), MSG_NOSIGNAL);
    }
    if (client >= 0) ::close(client);
  }

  int listener_ = -1;
  std::mutex mutex_;
  std::string answer_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

struct Place {
  test::TempDir directory;
  core::ReplayDir replay{directory.path() / "run" / "replays" / "r1"};
  Server server{directory.path() / "redis.sock"};

  Place() {
    core::Plan plan;
    plan.run = "run";
    plan.replay = "r1";
    for (int64_t id = 0; id < 3; ++id) {
      plan.units.push_back({id, id, id, "", 1, 1, 0, 1});
      plan.selected.add(id);
    }
    plan.segments = {{0, 3}};
    core::create_directories_durably(replay.path);
    core::write_durably(replay.plan(), core::to_json(plan).dump());
  }
};

template <class Call>
void refused_or_not(Call call) {
  try {
    call();
  } catch (const core::Error&) {
  }
}

void ask_everything(queue::Queue& queue) {
  refused_or_not([&] { queue.claim("n1.1", -1); });
  refused_or_not([&] { queue.renew("0", "1:1"); });
  refused_or_not([&] { queue.commit({"0", "1:1", 0, "n1.1", "00", 10, 0.5}); });
  refused_or_not([&] { queue.release("0", "1:1", "why"); });
  refused_or_not([&] { queue.split("0", 1); });
  refused_or_not([&] { queue.reap(); });
  refused_or_not([&] { queue.status(); });
  refused_or_not([&] { queue.done(); });
}

std::string text(const std::string& value) {
  return "$" + std::to_string(value.size()) + "\r\n" + value + "\r\n";
}

std::string list(const std::vector<std::string>& items) {
  std::string out = "*" + std::to_string(items.size()) + "\r\n";
  for (const auto& item : items) out += item;
  return out;
}

}  // namespace

Target replies() {
  const std::string info =
      "redis_version:7.0.15\r\nredis_mode:standalone\r\nrun_id:abc\r\nrole:master\r\nmaxmemory:0\r\n";
  const std::string running =
      list({text("0"), ":0", "\r\n", ":3\r\n", ":1\r\n", text("n1.2"), text("1.5"), text("1:1")});
  return {
      "redis-replies",
      {text(info), "+OK\r\n", ":1\r\n",
       list({text("segment"), text("0"), ":0\r\n", ":3\r\n", ":0\r\n", text("1:1")}), list({text("done")}),
       list({text("wait"), running}), list({text("ok"), ":3\r\n", ":0\r\n"}), list({text("absent")}),
       list({text("0"), text(R"({"worker":"n1.1","digest":"00","bytes":10,"seconds":0.5})")}),
       list({text("present"), ":1\r\n", ":3\r\n", list({running}), list({list({text("n1.1"), text("n1")})})}),
       "-NOSCRIPT No matching script\r\n", "-OOM command not allowed\r\n", "$-1\r\n", "*-1\r\n",
       "*1000000000\r\n:1\r\n"},
      [](const std::string& answer) {
        static Place place;
        place.server.answer_with(answer);
        queue::QueueOptions options;
        options.timeout = std::chrono::milliseconds(5);
        queue::Queue queue("unix://" + (place.directory.path() / "redis.sock").string(), place.replay,
                           options);
        ask_everything(queue);
      }};
}

}  // namespace flor::fuzz
