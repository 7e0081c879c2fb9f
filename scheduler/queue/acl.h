// Redis' access control lists: one user of Redis for each user of the cluster, who reaches their own keys
// only.
#pragma once

#include <string>
#include <vector>

#include "queue/redis.h"

namespace flor::queue {

// What all keys begin with that this login uses: "flor:USER:", or "flor:" where no user is named (everybody
// shares the keys then).
std::string key_prefix(const RedisUrl& url);

// The words of ACL SETUSER behind the user's name: all that Flor does to keys of that user, and nothing else.
std::vector<std::string> acl_rules(const std::string& user, const std::string& password);

// Makes the user, or gives them the new password and these rules. Throws RedisRefused where this login may
// not. False: Redis will have forgotten that after a restart, because it has no aclfile.
bool set_user(Redis& redis, const std::string& user, const std::string& password);

}  // namespace flor::queue
