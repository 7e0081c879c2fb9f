// The setting `redis`: the URL of the server that coordinates replays, which may hold a password.
#pragma once

#include <optional>
#include <string>

#include "core/config/conf.h"
#include "core/config/settings.h"

namespace flor::core {

// FLOR_REDIS, else `redis` of flor.conf. Where FLOR_REDIS has no password and is otherwise the URL of
// flor.conf, the latter: so the environment tells a worker which server and login, and its owner's flor.conf
// the password.
std::optional<std::string> redis_url(const Settings& settings);

// Would a process of this user whose environment holds without_password(url) get `url`?
bool is_found_without_password(const Settings& settings, const std::string& url);

}  // namespace flor::core
