// The connection: URLs, errors, time-outs, and which servers are fit.
#include "queue/acl.h"
#include "queue/replay_dir.h"
#include "queue_scripts.h"

namespace flor::test {
namespace {

using queue::Redis;
using queue::RedisUrl;

TEST(RedisUrlTest, EveryFormIsRead) {
  auto url = RedisUrl::parse("redis://ada:p%40ss@db.example.org:7000/3");
  EXPECT_EQ(url.host, "db.example.org");
  EXPECT_EQ(url.port, 7000);
  EXPECT_EQ(url.db, 3);
  EXPECT_EQ(url.user, "ada");
  EXPECT_EQ(url.password, "p@ss");
  EXPECT_EQ(url.shown(), "redis://ada@db.example.org:7000/3");
  url = RedisUrl::parse("redis://:secret@h");
  EXPECT_EQ(url.user, "");
  EXPECT_EQ(url.password, "secret");
  EXPECT_EQ(url.shown(), "redis://h:6379");
  url = RedisUrl::parse("redis://[::1]:6380/");
  EXPECT_EQ(url.host, "::1");
  EXPECT_EQ(url.port, 6380);
  EXPECT_EQ(url.shown(), "redis://[::1]:6380");
  EXPECT_EQ(RedisUrl::parse("unix:///run/redis.sock").path, "/run/redis.sock");
  EXPECT_EQ(RedisUrl::parse("unix:///run/a@/redis.sock").path, "/run/a@/redis.sock");
  url = RedisUrl::parse("unix://ada:p%40ss@/run/redis.sock");
  EXPECT_EQ(url.host, "");
  EXPECT_EQ(url.path, "/run/redis.sock");
  EXPECT_EQ(url.user, "ada");
  EXPECT_EQ(url.password, "p@ss");
  EXPECT_EQ(url.shown(), "unix://ada@/run/redis.sock");
  EXPECT_EQ(RedisUrl::parse("unix://:secret@/r").password, "secret");
}

TEST(RedisUrlTest, WhatIsWrongIsNamedAndThePasswordIsNot) {
  for (const char* bad : {"", "http://h", "redis://", "redis://h:0", "redis://h:99999", "redis://h:x",
                          "redis://h/x", "redis://user@h", "redis://u:hunter2%4@h", "redis://u:hunter2@",
                          "rediss://u:hunter2@h", "unix://relative", "redis://[::1", "unix://ada@/run/r.sock",
                          "unix://u:hunter2@r.sock", "redis://u:hunter2@h\n"}) {
    try {
      RedisUrl::parse(bad);
      ADD_FAILURE() << "accepted: " << bad;
    } catch (const core::UsageError& error) {
      EXPECT_EQ(std::string(error.what()).find("hunter2"), std::string::npos) << error.what();
    }
  }
}

TEST(RedisTest, RepliesAreConverted) {
  RedisServer server;
  Redis redis(server.url());
  EXPECT_TRUE(redis.command({"GET", "nothing"}).is_nil());
  EXPECT_EQ(redis.command({"INCR", "n"}).num(), 1);
  EXPECT_EQ(redis.command({"GET", "n"}).num(), 1);
  const std::string binary("a\0b", 3);
  redis.command({"SET", "b", binary});
  EXPECT_EQ(redis.command({"GET", "b"}).text, binary);
  EXPECT_EQ(redis.command({"MGET", "n", "none"}).items.size(), 2U);
  EXPECT_THROW(redis.command({"NONSENSE"}), queue::RedisRefused);
  EXPECT_EQ(redis.command({"PING"}).text, "PONG") << "an error ends no connection";
}

TEST(RedisTest, ScriptsAreEmbeddedAsTheirDigestSays) {
  RedisServer server;
  Redis redis(server.url());
  for (const auto& script : {queue::scripts::claim, queue::scripts::commit, queue::scripts::status}) {
    EXPECT_EQ(redis.command({"SCRIPT", "LOAD", std::string(script.text)}).text, script.sha1) << script.name;
  }
}

TEST(RedisTest, AFlushedScriptCacheIsNoError) {
  RedisServer server;
  TestReplay replay(2, {{0, 2}});
  queue::Queue queue(server.url(), replay.dir());
  queue.ensure(replay.plan);
  Redis(server.url()).command({"SCRIPT", "FLUSH"});
  EXPECT_EQ(queue.claim("w1", -1).kind, queue::ClaimKind::segment);
}

TEST(RedisTest, AServerThatIsGoneOrHangsIsDownWithinTheTimeOut) {
  RedisServer server;
  Redis redis(server.url(), std::chrono::milliseconds(200));
  redis.command({"PING"});
  server.signal(SIGSTOP);
  EXPECT_THROW(redis.command({"PING"}), queue::RedisDown);
  server.signal(SIGCONT);
  EXPECT_EQ(redis.command({"PING"}).text, "PONG")
      << "the late answer of the first PING is not taken for this one's";
  server.kill();
  EXPECT_THROW(redis.command({"PING"}), queue::RedisDown);
  EXPECT_THROW(redis.command({"PING"}), queue::RedisDown);
  server.start();
  EXPECT_EQ(redis.command({"PING"}).text, "PONG");
}

TEST(RedisTest, AListThatNoScriptWouldAnswerIsRefusedAtItsFirstLine) {
  RedisServer server;
  Redis redis(server.url(), std::chrono::minutes(1));
  const auto list = [&](const std::string& length) {
    return redis.command({"EVAL", "local t = {} for i = 1, ARGV[1] do t[i] = 1 end return t", "0", length});
  };
  EXPECT_EQ(list("200000").items.size(), 200000U);
  try {
    list("4194305");
    FAIL() << "RedisDown was expected";
  } catch (const queue::RedisDown& down) {
    EXPECT_NE(std::string(down.what()).find("its answer is too long"), std::string::npos) << down.what();
  }
  EXPECT_EQ(redis.command({"PING"}).text, "PONG");
}

TEST(RedisTest, PasswordsAreUsedAndNeverShown) {
  RedisServer server;
  Redis admin(server.url());
  admin.command({"CONFIG", "SET", "port", "0"});
  admin.command({"ACL", "SETUSER", "ada", "on", ">hunter2", "~*", "+@all"});
  admin.command({"ACL", "SETUSER", "default", "resetpass", ">hunter2"});
  try {
    Redis(server.url()).command({"PING"});
    FAIL() << "NOAUTH was expected";
  } catch (const queue::RedisRefused& refused) {
    EXPECT_NE(std::string(refused.what()).find("NOAUTH"), std::string::npos);
  }
}

TEST(AclTest, AUserRunsTheQueueByFunctionsAndNoScripts) {
  RedisServer server({"--appendonly", "yes"});
  Redis admin(server.url());
  ASSERT_TRUE(queue::load_functions(admin));
  ASSERT_TRUE(queue::load_functions(admin)) << "it may be repeated";
  queue::set_user(admin, "ada", queue::acl_rules("ada", "hunter2", true));
  queue::set_user(admin, "bob", queue::acl_rules("bob", "hunter3", true));
  const std::string host = "@127.0.0.1:" + std::to_string(server.open_port());
  TestReplay replay(2, {{0, 2}});
  queue::Queue queue("redis://ada:hunter2" + host, replay.dir());
  queue.ensure(replay.plan);
  queue::WorkerInfo w1;
  w1.id = "w1";
  queue.join(w1);
  const auto claim = queue.claim("w1", -1);
  ASSERT_EQ(claim.kind, queue::ClaimKind::segment);
  EXPECT_FALSE(queue.renew(claim.segment.id, claim.segment.fence).lost);
  EXPECT_EQ(queue.status().workers.size(), 1U);

  Redis bob("redis://bob:hunter3" + host);
  const std::string prefix = "flor:ada:" + replay.key("").substr(std::string("flor:").size());
  const std::vector<std::vector<std::string>> forbidden{
      {"EVAL", "while true do end", "0"},
      {"EVALSHA", queue::scripts::status.sha1, "1", "flor:bob:"},
      {"SCRIPT", "LOAD", "return 1"},
      {"FUNCTION", "LOAD", "REPLACE", std::string(queue::scripts::library)},
      {"FUNCTION", "FLUSH"},
      {"FCALL", queue::scripts::remove.function, "1", prefix, "x", "1000"}};
  for (const auto& words : forbidden) {
    try {
      bob.command(words);
      ADD_FAILURE() << "may " << words[0] << " " << words[1];
    } catch (const queue::RedisRefused& refused) {
      EXPECT_NE(std::string(refused.what()).find("NOPERM"), std::string::npos) << refused.what();
    }
  }
  EXPECT_TRUE(queue.status().present);
}

TEST(AclTest, FunctionsOutliveTheServer) {
  RedisServer server({"--appendonly", "yes", "--appendfsync", "always"});
  Redis admin(server.url());
  queue::load_functions(admin);
  server.kill(SIGKILL);
  server.start();
  EXPECT_EQ(Redis(server.url()).command({"FUNCTION", "LIST"}).items.size(), 1U);
}

TEST(AclTest, FunctionsOfAnotherVersionStayUntilTheyAreRemoved) {
  RedisServer server;
  Redis admin(server.url());
  const std::string older = "flor_0123456789ab";
  admin.command({"FUNCTION", "LOAD",
                 "#!lua name=" + older + "\nredis.register_function('" + older +
                     "_status', function() return {'absent'} end)"});
  admin.command(
      {"FUNCTION", "LOAD", "#!lua name=flor_of_theirs\nredis.register_function('x', function() end)"});
  EXPECT_EQ(queue::load_functions(admin), std::vector<std::string>{older}) << "and no one else's";

  queue::set_user(admin, "ada", queue::acl_rules("ada", "hunter2", true));
  Redis ada("redis://ada:hunter2@127.0.0.1:" + std::to_string(server.open_port()));
  const std::string function = older + "_status";
  const queue::Script script{"status", "0123456789012345678901234567890123456789", function.c_str(),
                             "return 1"};
  EXPECT_EQ(ada.run(script, {"flor:ada:"}, {}).at(0).text, "absent") << "a replay of that version goes on";

  queue::delete_functions(admin, older);
  EXPECT_EQ(queue::load_functions(admin), std::vector<std::string>{});
  EXPECT_EQ(admin.command({"FUNCTION", "LIST"}).items.size(), 2U);
  try {
    ada.run(script, {"flor:ada:"}, {});
    FAIL() << "RedisRefused was expected";
  } catch (const queue::RedisRefused& refused) {
    EXPECT_NE(std::string(refused.what()).find("flor admin redis-functions"), std::string::npos)
        << refused.what();
  }
}

TEST(AclTest, WithoutTheFunctionsOfThisVersionTheUserIsToldWhoLoadsThem) {
  RedisServer server;
  Redis admin(server.url());
  queue::set_user(admin, "ada", queue::acl_rules("ada", "hunter2", true));
  TestReplay replay(2, {{0, 2}});
  queue::Queue queue("redis://ada:hunter2@127.0.0.1:" + std::to_string(server.open_port()), replay.dir());
  try {
    queue.ensure(replay.plan);
    FAIL() << "RedisRefused was expected";
  } catch (const core::Error& refused) {
    EXPECT_NE(std::string(refused.what()).find("flor admin redis-functions"), std::string::npos)
        << refused.what();
  }
}

TEST(AclTest, OnesOwnLoginIsKnown) {
  RedisServer server;
  Redis redis(server.url());
  EXPECT_TRUE(queue::is_own_login(redis, "default"));
  redis.command({"ACL", "SETUSER", "keeper", "on", ">hunter2", "~*", "+@all"});
  EXPECT_FALSE(queue::is_own_login(redis, "keeper"));
  Redis keeper("unix://keeper:hunter2@" + server.url().substr(7));
  EXPECT_TRUE(queue::is_own_login(keeper, "keeper"));
}

TEST(AclTest, AnOpenDefaultUserIsSeen) {
  RedisServer server;
  Redis admin(server.url());
  EXPECT_TRUE(queue::is_open(admin));
  admin.command({"ACL", "SETUSER", "default", "resetpass", ">hunter2"});
  EXPECT_FALSE(queue::is_open(admin));
  admin.command({"ACL", "SETUSER", "default", "nopass", "-@all", "+acl"});
  EXPECT_TRUE(queue::is_open(admin));
  admin.command({"ACL", "SETUSER", "default", "off"});
  EXPECT_FALSE(queue::is_open(admin));
}

TEST(RedisTest, PasswordsWorkOverTcp) {
  RedisServer server;
  Redis admin(server.url());
  const int port = server.open_port();
  admin.command({"ACL", "SETUSER", "ada", "on", ">hunter2", "~*", "+@all"});
  const std::string host = "@127.0.0.1:" + std::to_string(port);
  EXPECT_EQ(Redis("redis://ada:hunter2" + host + "/1").command({"PING"}).text, "PONG");
  try {
    Redis("redis://ada:wrong" + host).command({"PING"});
    FAIL() << "WRONGPASS was expected";
  } catch (const queue::RedisRefused& refused) {
    EXPECT_EQ(std::string(refused.what()).find(":wrong"), std::string::npos) << refused.what();
  }
}

TEST(UnfitTest, AFitServerIsFit) {
  RedisServer server({"--maxmemory", "100mb", "--maxmemory-policy", "noeviction"});
  Redis redis(server.url());
  EXPECT_EQ(queue::unfit(redis), std::nullopt);
}

TEST(UnfitTest, WithoutALimitNothingIsEvicted) {
  RedisServer server({"--maxmemory", "0", "--maxmemory-policy", "allkeys-lru"});
  Redis redis(server.url());
  EXPECT_EQ(queue::unfit(redis), std::nullopt);
}

TEST(UnfitTest, AnEvictingServerIsFoundAndNoQueueIsBuiltThere) {
  RedisServer server({"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"});
  Redis redis(server.url());
  const auto why = queue::unfit(redis);
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("allkeys-lru"), std::string::npos) << *why;
  EXPECT_NE(why->find("noeviction"), std::string::npos) << *why;
  TestReplay replay(2, {{0, 2}});
  queue::Queue queue(server.url(), replay.dir());
  EXPECT_THROW(queue.ensure(replay.plan), core::Error);
}

TEST(UnfitTest, AReplicaIsUnfit) {
  RedisServer server({"--replicaof", "127.0.0.1 1"});
  Redis redis(server.url());
  const auto why = queue::unfit(redis);
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("replica"), std::string::npos) << *why;
}

TEST(UnfitTest, AUserWithoutRightsIsToldWhatIsMissing) {
  RedisServer server;
  Redis admin(server.url());
  admin.command({"ACL", "SETUSER", "default", "-info"});
  Redis redis(server.url());
  const auto why = queue::unfit(redis);
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("INFO"), std::string::npos) << *why;
}

}  // namespace
}  // namespace flor::test
