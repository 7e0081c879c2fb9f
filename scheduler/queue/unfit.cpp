#include <map>
#include <sstream>

#include "queue/acl.h"
#include "queue/queue.h"

namespace flor::queue {
namespace {

std::map<std::string, std::string> fields_of(const std::string& info) {
  std::map<std::string, std::string> out;
  std::istringstream in(info);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const auto colon = line.find(':');
    if (colon != std::string::npos) out[line.substr(0, colon)] = line.substr(colon + 1);
  }
  return out;
}

int major_of(const std::string& version) {
  try {
    return std::stoi(version);
  } catch (const std::exception&) {
    return 0;
  }
}

}  // namespace

std::optional<std::string> unfit(Redis& redis) {
  const std::string name = "Redis at " + redis.url().shown();
  try {
    auto info = fields_of(redis.command({"INFO"}).text);
    if (major_of(info["redis_version"]) < 6) {
      return name + " is version " + info["redis_version"] + "; 6 or later is needed (7 and 8 are tested)";
    }
    if (info["redis_mode"] == "cluster") return name + " is a cluster; a single server is needed";
    if (info["role"] == "slave") return name + " is a replica; give the address of its primary";
    // INFO, because CONFIG GET is often forbidden.
    if (info["maxmemory"] != "0" && info["maxmemory_policy"] != "noeviction") {
      return name + " may evict keys (maxmemory-policy " + info["maxmemory_policy"] +
             "), and with them segments; set `maxmemory-policy noeviction`";
    }
    redis.command({"SET", key_prefix(redis.url()) + "{unfit}:probe", "1", "PX", "1000"});
  } catch (const RedisRefused& refused) {
    return std::string(refused.what()) + "; Flor needs INFO, EVAL and writes to keys that begin with " +
           key_prefix(redis.url()) + " (flor admin redis-acl)";
  }
  return std::nullopt;
}

}  // namespace flor::queue
