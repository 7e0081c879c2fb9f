// Sets up Redis users and their access rules, for `flor admin`: each user of the cluster gets a Redis user
// who can reach their own keys only. Calls that use a connection throw RedisDown or RedisRefused
// (queue/redis.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "queue/redis.h"

namespace flor::queue {

// Returns the prefix of all keys of this login: "flor:USER:". Without a user, or as `default`, it is "flor:",
// and all users share the keys.
std::string key_prefix(const RedisUrl& url);

// Loads the queue's scripts into Redis as a library of functions, which survives a restart. Returns the names
// of the libraries of other versions of Flor. They stay, because replays of those versions may be running.
// Returns nullopt where the server is older than Redis 7 and has no functions.
std::optional<std::vector<std::string>> load_functions(Redis& redis);

// Deletes a library that load_functions() returned. A replay that still uses it gets RedisRefused.
void delete_functions(Redis& redis, const std::string& library);

// Returns the rules for ACL SETUSER. They allow the commands that Flor uses, on keys of that user only.
// With `functions`, the user can run only functions that are loaded, as by load_functions(). Without, they
// can run scripts of their own, and so can keep the server busy for ever.
std::vector<std::string> acl_rules(const std::string& user, const std::string& password, bool functions);

// Creates the user, or replaces the user's rules and password. Throws RedisRefused where this login may not
// do so. Returns false if Redis could not save the change (it has no aclfile): a restart then loses it.
bool set_user(Redis& redis, const std::string& user, const std::vector<std::string>& rules);

// Returns true if anyone can log in as `default` without a password and run commands. The rules of other
// users then protect nothing.
bool is_open(Redis& redis);

// Returns true if the connection is logged in as `user`.
bool is_own_login(Redis& redis, const std::string& user);

}  // namespace flor::queue
