// A queue of a user of Redis who writes into their own keys what Flor never wrote.
#pragma once

#include <atomic>
#include <functional>
#include <sstream>
#include <thread>

#include "queue/acl.h"
#include "queue/replay_dir.h"
#include "queue_scripts.h"

namespace flor::test {

using Words = std::vector<std::string>;

// A function, and arguments with which it does all that it can in the state that PlantedTest keeps.
struct Call {
  queue::Script script;
  Words args;
};

class PlantedTest : public QueueTest {
 protected:
  static constexpr const char* builder = "7.7";

  PlantedTest() {
    replay.plan.proofs = 2;
    core::write_durably(replay.dir().plan(), core::json_text(core::to_json(replay.plan)));
    queue::load_functions(admin);
    queue::set_user(admin, "ada", queue::acl_rules("ada", "hunter2", true));
    url = "redis://ada:hunter2@127.0.0.1:" + std::to_string(server.open_port());
    prefix = "flor:ada:" + replay.key("").substr(std::string("flor:").size());
  }

  queue::Queue adas_queue() { return queue::Queue(url, replay.dir()); }

  // Segments that are ready, running, copied, done, failed and out of lease; workers; proofs.
  void fill() {
    auto queue = adas_queue();
    for (const char* name : {"w1", "w2", "w3"}) {
      queue::WorkerInfo worker;
      worker.id = name;
      queue.join(worker);
    }
    held = queue.claim("w1", -1).segment;
    commit(queue, held, held.cur, "w1");
    const auto failed = queue.claim("w2", -1).segment;
    queue.release(failed.id, failed.fence, "why", true);
    const auto late = queue.claim("w3", -1).segment;
    admin.command({"ZADD", prefix + "lease", "1", late.id});
    const Words copy{"w2", "-1", held.id, std::to_string(held.hi), std::to_string(held.cur + 1), "1", "9"};
    ASSERT_EQ(run({queue::scripts::take, copy}).at(0).text, "segment");
    admin.command({"HSET", prefix + "meta", "swept", "1", "kept", "0", "builder", builder});
    snapshot();
  }

  std::vector<Call> calls() const {
    namespace s = queue::scripts;
    const std::string next = std::to_string(held.cur + 1), hi = std::to_string(held.hi);
    return {{s::claim, {"w4", "-1", "", "0", "", ""}},
            {s::claim, {"w1", "-1", "1", "0", "", ""}},
            {s::claim, {"w4", "9", "", "0", "", ""}},
            {s::commit, {held.id, held.fence, next, "w1", "{}", "1", "1"}},
            {s::join, {"w1", "pid", "1"}},
            {s::leave, {"w1"}},
            {s::reap, {"1000", ""}},
            {s::release, {held.id, held.fence, "why", "0"}},
            {s::renew, {held.id, held.fence}},
            {s::split, {held.id, std::to_string(held.hi - 1)}},
            {s::status, {"0"}},
            {s::take, {"w4", "-1", held.id, hi, std::to_string(held.hi - 1), "", "9"}},
            {s::adopt, {builder, "0"}},
            {s::adopt_begin, {builder, "7"}},
            {s::build_begin, {builder, "7", "12", "2"}},
            {s::add_segments, {builder, "0", "1", "0"}},
            {s::add_done, {builder, "11", "{}"}},
            {s::build_end, {builder, "12"}},
            {s::remove, {"1", ""}}};
  }

  queue::Reply run(const Call& call) {
    Words words{"FCALL", call.script.function, "1", prefix, ada().server_id(), "10000"};
    words.insert(words.end(), call.args.begin(), call.args.end());
    return ada().command(words);
  }

  // Calls it. It answers, or says in one line which key and field is wrong.
  void ends(const Call& call, const std::string& what) {
    const std::string name = std::string(call.script.name) + " with " + what;
    const int64_t before = commands();
    try {
      run(call);
    } catch (const queue::RedisRefused& refused) {
      const std::string why = refused.what();
      EXPECT_TRUE(why.find("DAMAGED<") != std::string::npos || why.find("WRONGTYPE") != std::string::npos)
          << name << ": " << why;
      EXPECT_EQ(why.find('\n'), std::string::npos) << name << ": " << why;
    } catch (const queue::RedisDown& down) {
      FAIL() << name << ": " << down.what();
    }
    EXPECT_LT(commands() - before, 4000) << name;
  }

  // Commands that the server has executed, those of scripts too. A PING is what the bystander says.
  int64_t commands() {
    std::istringstream lines(admin.command({"INFO", "commandstats"}).text);
    int64_t out = 0;
    for (std::string line; std::getline(lines, line);) {
      const auto at = line.find(":calls=");
      if (at != std::string::npos && line.rfind("cmdstat_ping", 0) != 0)
        out += std::stoll(line.substr(at + 7));
    }
    return out;
  }

  // Remembers all keys, for restore().
  void snapshot() {
    kept.clear();
    for (const auto& key : admin.command({"KEYS", prefix + "*"}).items) {
      kept.push_back(key.text);
      kept.push_back(admin.command({"DUMP", key.text}).text);
    }
  }

  void restore() {
    Words words{"EVAL",
                "for _, k in ipairs(redis.call('KEYS', 'flor:ada:*')) do redis.call('DEL', k) end "
                "for i = 1, #ARGV, 2 do redis.call('RESTORE', ARGV[i], 0, ARGV[i + 1]) end",
                "0"};
    words.insert(words.end(), kept.begin(), kept.end());
    admin.command(words);
  }

  queue::Redis& ada() {
    if (!ada_) ada_.emplace(url, std::chrono::seconds(20));
    return *ada_;
  }

  queue::Redis admin{server.url()};
  std::string url, prefix;
  queue::Segment held;
  Words kept;

 private:
  std::optional<queue::Redis> ada_;
};

// Another client of the same server: whatever is called meanwhile, it is served.
class Bystander {
 public:
  explicit Bystander(std::string url)
      : thread_([this, url = std::move(url)] {
          queue::Redis redis(url, std::chrono::seconds(10));
          while (!stop_) {
            try {
              redis.command({"PING"});
              ++served_;
            } catch (const core::Error& problem) {
              ADD_FAILURE() << "another client: " << problem.what();
              return;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }) {}
  ~Bystander() {
    stop_ = true;
    thread_.join();
    EXPECT_GT(served_, 0);
  }
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int> served_{0};
  std::thread thread_;
};

}  // namespace flor::test
