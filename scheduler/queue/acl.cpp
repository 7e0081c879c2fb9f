#include "queue/acl.h"

#include "queue_scripts.h"

namespace flor::queue {
namespace {

// The commands that a user may call: those that Flor sends for them, and those that its scripts call.
constexpr const char* commands[] = {
    "auth", "hello", "ping",   "select",        "info",    "time",   "set",    "del",     "exists",  "expire",
    "incr", "hset",  "hget",   "hmget",         "hgetall", "hsetnx", "hdel",   "hexists", "hincrby", "hlen",
    "zadd", "zrem",  "zrange", "zrangebyscore", "zscore",  "xadd",   "xrange", "xread",   "ttl"};

}  // namespace

std::string key_prefix(const RedisUrl& url) {
  return url.user.empty() || url.user == "default" ? "flor:" : "flor:" + url.user + ":";
}

std::optional<std::vector<std::string>> load_functions(Redis& redis) {
  std::string own;
  try {
    own = redis.command({"FUNCTION", "LOAD", "REPLACE", std::string(scripts::library)}).text;
  } catch (const RedisRefused& refused) {
    if (std::string_view(refused.what()).find("unknown command") == std::string_view::npos) throw;
    return std::nullopt;
  }
  std::vector<std::string> others;
  const Reply libraries = redis.command({"FUNCTION", "LIST", "LIBRARYNAME", "flor_*"});
  for (const auto& library : libraries.items) {
    const std::string& name = library.at(1).text;  // item 0 is the word library_name
    if (name != own && name.size() == own.size()) others.push_back(name);
  }
  return others;
}

void delete_functions(Redis& redis, const std::string& library) {
  redis.command({"FUNCTION", "DELETE", library});
}

bool is_open(Redis& redis) {
  const Reply user = redis.command({"ACL", "GETUSER", "default"});
  bool on = false;
  bool without_password = false;
  bool may_nothing = false;
  for (std::size_t i = 0; i + 1 < user.items.size(); i += 2) {
    if (user.at(i).text == "commands") may_nothing = user.at(i + 1).text == "-@all";
    if (user.at(i).text != "flags") continue;
    for (const auto& flag : user.at(i + 1).items) {
      on = on || flag.text == "on";
      without_password = without_password || flag.text == "nopass";
    }
  }
  return on && without_password && !may_nothing;
}

bool is_own_login(Redis& redis, const std::string& user) {
  return redis.command({"ACL", "WHOAMI"}).text == user;
}

std::vector<std::string> acl_rules(const std::string& user, const std::string& password, bool functions) {
  std::vector<std::string> rules{"reset", "on", ">" + password, "~flor:" + user + ":*"};
  for (const char* command : commands) rules.push_back(std::string("+") + command);
  for (const char* command : {"+eval", "+evalsha"}) {
    if (!functions) rules.emplace_back(command);
  }
  if (functions) rules.emplace_back("+fcall");
  return rules;
}

bool set_user(Redis& redis, const std::string& user, const std::vector<std::string>& rules) {
  std::vector<std::string> words{"ACL", "SETUSER", user};
  words.insert(words.end(), rules.begin(), rules.end());
  redis.command(words);
  try {
    redis.command({"ACL", "SAVE"});
    return true;
  } catch (const RedisRefused&) {
    return false;
  }
}

}  // namespace flor::queue
