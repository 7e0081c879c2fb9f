#include "queue/acl.h"

namespace flor::queue {
namespace {

constexpr const char* commands[] = {
    "auth",    "hello",         "ping",   "select",  "info",    "time",  "eval", "evalsha",
    "set",     "del",           "exists", "expire",  "incr",    "hset",  "hget", "hmget",
    "hgetall", "hsetnx",        "hdel",   "hexists", "hincrby", "hlen",  "zadd", "zrem",
    "zrange",  "zrangebyscore", "zscore", "xadd",    "xrange",  "xread", "ttl"};

}  // namespace

std::string key_prefix(const RedisUrl& url) {
  return url.user.empty() || url.user == "default" ? "flor:" : "flor:" + url.user + ":";
}

std::vector<std::string> acl_rules(const std::string& user, const std::string& password) {
  std::vector<std::string> rules{"reset", "on", ">" + password, "~flor:" + user + ":*"};
  for (const char* command : commands) rules.push_back(std::string("+") + command);
  return rules;
}

bool set_user(Redis& redis, const std::string& user, const std::string& password) {
  std::vector<std::string> words{"ACL", "SETUSER", user};
  for (auto& rule : acl_rules(user, password)) words.push_back(std::move(rule));
  redis.command(words);
  try {
    redis.command({"ACL", "SAVE"});
    return true;
  } catch (const RedisRefused&) {
    return false;
  }
}

}  // namespace flor::queue
