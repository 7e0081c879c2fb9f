// A user of Redis can write anything into their own keys and call any function of Flor's with any argument.
// While a function runs, the server serves no one else: so each call ends soon, whatever it finds.
#include <set>

#include "queue/planted.h"

namespace flor::test {
namespace {

using queue::ClaimKind;

const Words wrong_numbers{
    "999999999999999", "9223372036854775807", "12345678901234567890", "-1", "nan", "inf", "1e308", "x", ""};

class BoundsTest : public PlantedTest {
 protected:
  // What a user can plant, each as one command.
  std::vector<Words> plantings() {
    std::vector<Words> out;
    for (const auto& key : admin.command({"KEYS", prefix + "*"}).items) {
      const std::string type = admin.command({"TYPE", key.text}).text;
      if (type == "hash") plant_fields(key.text, out);
      if (type == "zset") plant_members(key.text, out);
      if (type == "string") {
        for (const auto& value : wrong_numbers) out.push_back({"SET", key.text, value});
      }
      // A key of another type.
      if (type == "string") {
        out.push_back({"COPY", prefix + "meta", key.text, "REPLACE"});
      } else {
        out.push_back({"SET", key.text, "x"});
      }
    }
    return out;
  }

  void plant_fields(const std::string& key, std::vector<Words>& out) {
    if (key == prefix + "done") return;  // what is kept of a unit is never read by a function
    const auto fields = admin.command({"HKEYS", key});
    for (const auto& field : fields.items) {
      for (const auto& value : wrong_numbers) out.push_back({"HSET", key, field.text, value});
      out.push_back({"HDEL", key, field.text});
    }
  }

  void plant_members(const std::string& key, std::vector<Words>& out) {
    const auto members = admin.command({"ZRANGE", key, "0", "-1"});
    for (const char* score : {"-inf", "inf", "1e308", "-1e308", "0"}) {
      for (const auto& member : members.items) out.push_back({"ZADD", key, score, member.text});
    }
    for (const auto& value : wrong_numbers) out.push_back({"ZADD", key, "0", value});
  }

  // Members 0 … count-1 of every list, each a segment or a worker that is there.
  void plant_lists(const char* state, int64_t count) {
    admin.command(
        {"EVAL",
         "for i = 0, ARGV[2] - 1 do local id = string.format('%d', i) "
         "redis.call('HSET', KEYS[1] .. 'seg:' .. id, 'state', ARGV[1], 'lo', 0, 'hi', 12, 'cur', 0, "
         "'order', i, "
         "'tries', 0, 'owner', 'w' .. id) "
         "for _, list in ipairs({'ready', 'lease', 'running', 'workers'}) do "
         "redis.call('ZADD', KEYS[1] .. list, i + 1, (list == 'workers' and 'w' or '') .. id) end end "
         "redis.call('HSET', KEYS[1] .. 'meta', 'next', ARGV[2])",
         "1", prefix, state, std::to_string(count)});
  }

  std::size_t keys() { return admin.command({"KEYS", prefix + "*"}).items.size(); }
};

std::string shown(const Words& words) {
  std::string out;
  for (const auto& word : words) out += word + " ";
  return out;
}

TEST_F(BoundsTest, EveryFunctionIsCalledHere) {
  std::set<std::string> called, loaded;
  for (const auto& call : calls()) called.insert(call.script.function);
  const auto libraries = admin.command({"FUNCTION", "LIST"});
  for (const auto& function : libraries.at(0).at(5).items) loaded.insert(function.at(1).text);
  EXPECT_EQ(called, loaded);
}

TEST_F(BoundsTest, AWrongValueEndsNoOthersServiceWhereverItStands) {
  fill();
  const auto all = plantings();
  EXPECT_GT(all.size(), 1000U);
  const Bystander other(server.url());
  for (const auto& planting : all) {
    for (const auto& call : calls()) {
      restore();
      admin.command(planting);
      ends(call, shown(planting));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(BoundsTest, AWrongArgumentEndsNoOthersService) {
  fill();
  const Bystander other(server.url());
  for (const auto& call : calls()) {
    for (std::size_t at = 0; at < call.args.size(); ++at) {
      for (const auto& value : wrong_numbers) {
        Call wrong = call;
        wrong.args[at] = value;
        restore();
        ends(wrong, "argument " + std::to_string(at) + ": " + value);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(BoundsTest, TooManyArgumentsAreRefused) {
  fill();
  for (auto call : calls()) {
    call.args.resize(2000, "1");
    try {
      run(call);
      ADD_FAILURE() << call.script.name;
    } catch (const queue::RedisRefused& refused) {
      EXPECT_NE(std::string(refused.what()).find("arguments"), std::string::npos) << refused.what();
    }
  }
}

TEST_F(BoundsTest, LongListsAreWorkedOffInShortCalls) {
  fill();
  const Bystander other(server.url());
  for (const char* state : {"ready", "running", "done", "failed"}) {
    for (const auto& call : calls()) {
      restore();
      plant_lists(state, 2000);
      ends(call, std::string("2000 segments that are ") + state);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(BoundsTest, WhatOneCallLeavesTheNextOnesDo) {
  fill();
  auto queue = adas_queue();
  plant_lists("running", 2000);
  EXPECT_EQ(queue.reap(), 2000);
  EXPECT_EQ(admin.command({"ZCARD", prefix + "lease"}).num(), 0);
  EXPECT_EQ(admin.command({"ZCARD", prefix + "running"}).num(), 0);
  EXPECT_EQ(admin.command({"ZCARD", prefix + "workers"}).num(), 0);
  EXPECT_EQ(queue.status().segments.size(), 2000U);
  EXPECT_EQ(queue.claim("w1", -1).kind, ClaimKind::segment);
  queue.remove();
  EXPECT_EQ(keys(), 0U);
}

TEST_F(BoundsTest, ASegmentBehindManyOthersIsFound) {
  fill();
  plant_lists("ready", 2000);
  admin.command({"DEL", prefix + "lease", prefix + "running"});
  admin.command({"HSET", prefix + "seg:1700", "cur", "11"});
  auto queue = adas_queue();
  EXPECT_EQ(queue.claim("w1", 11).segment.id, "1700");
  EXPECT_EQ(queue.claim("w2", 11).kind, ClaimKind::behind);
}

TEST_F(BoundsTest, WrongDataIsSaidInOneLineAndTheQueueBuiltAnewAsItSays) {
  fill();
  for (const Words& planting : std::vector<Words>{{"HSET", prefix + "meta", "next", "999999999999999"},
                                                  {"HSET", prefix + "meta", "next", "nan"},
                                                  {"HSET", prefix + "seg:0", "hi", "1000000000000000000"},
                                                  {"HSET", prefix + "seg:0", "cur", "-5"},
                                                  {"ZADD", prefix + "lease", "0", "x"},
                                                  {"SET", prefix + "workers", "x"},
                                                  {"SET", prefix + "fence", "x"},
                                                  {"SET", prefix + "events", "x"},
                                                  {"SET", prefix + "meta", "x"}}) {
    restore();
    admin.command(planting);
    std::string why;
    auto queue = adas_queue();
    try {
      queue.claim("w4", -1);
      queue.reap();
      queue.status();
      queue.news();
    } catch (const queue::QueueDamaged& damage) {
      why = damage.what();
    }
    EXPECT_NE(why.find("is damaged ("), std::string::npos) << shown(planting) << why;
    EXPECT_NE(why.find("delete the key " + prefix + "meta"), std::string::npos) << shown(planting) << why;
    EXPECT_EQ(why.find('\n'), std::string::npos) << why;
    ada().command({"DEL", prefix + "meta"});
    EXPECT_EQ(queue.claim("w4", -1).kind, ClaimKind::segment) << shown(planting);
    EXPECT_EQ(queue.status().units, 12);
  }
}

TEST_F(BoundsTest, ASegmentThatThePlanHasNotIsHandedToNoWorker) {
  fill();
  for (const char* hi : {"13", "999999999999999"}) {
    restore();
    admin.command({"HSET", prefix + "seg:0", "hi", hi, "state", "ready"});
    admin.command({"ZADD", prefix + "ready", "-1", "0"});
    EXPECT_THROW(adas_queue().claim("w4", -1), queue::QueueDamaged) << hi;
    EXPECT_THROW(adas_queue().claim("w4", -1, 100), queue::QueueDamaged) << hi;
  }
}

TEST_F(BoundsTest, WhatHasNoNumberIsNoSegment) {
  fill();
  for (const std::string id : {"x", "../../x", "\033[2J", "0x0", "-1", "1.5"}) {
    restore();
    admin.command({"COPY", prefix + "seg:0", prefix + "seg:" + id});
    admin.command({"HSET", prefix + "seg:" + id, "state", "ready"});
    admin.command({"ZADD", prefix + "ready", "-1", id});
    EXPECT_THROW(adas_queue().claim("w4", -1), queue::QueueDamaged) << id;
  }
}

TEST_F(BoundsTest, WhatSurvivedARestartDamagedIsBuiltAnew) {
  fill();
  admin.command({"HSET", prefix + "meta", "next", "999999999999999", "server", "of before"});
  EXPECT_EQ(adas_queue().claim("w4", -1).kind, ClaimKind::segment);
  EXPECT_EQ(adas_queue().status().segments.size(), 3U + 2U) << "the plan's, without unit 0, and the proofs";
}

}  // namespace
}  // namespace flor::test
