// Redis' access control lists: one user of Redis for each user of the cluster, who reaches their own keys
// only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "queue/redis.h"

namespace flor::queue {

// What all keys begin with that this login uses: "flor:USER:", or "flor:" where no user is named (everybody
// shares the keys then).
std::string key_prefix(const RedisUrl& url);

// Loads the queue's scripts as a library of functions, which stays over a restart. Returns the libraries of
// other versions of Flor, which stay beside it: replays of those versions may be running. Nothing where this
// server is older than Redis 7 and has no functions.
std::optional<std::vector<std::string>> load_functions(Redis& redis);

// Deletes a library that load_functions() returned. Who still uses it is refused, with a line that says why.
void delete_functions(Redis& redis, const std::string& library);

// The words of ACL SETUSER behind the user's name: all that Flor does to keys of that user, and nothing else.
// With `functions` the user runs only what load_functions() loaded. Without, scripts of their own too, with
// which a user can keep the server busy for ever.
std::vector<std::string> acl_rules(const std::string& user, const std::string& password, bool functions);

// Makes the user, or gives them the new password and these rules. Throws RedisRefused where this login may
// not. False: Redis will have forgotten that after a restart, because it has no aclfile.
bool set_user(Redis& redis, const std::string& user, const std::vector<std::string>& rules);

// May anyone log in as `default`, without a password? Then no other user's rules keep anybody from anything.
bool is_open(Redis& redis);

// Is this the login that the connection itself has?
bool is_own_login(Redis& redis, const std::string& user);

}  // namespace flor::queue
