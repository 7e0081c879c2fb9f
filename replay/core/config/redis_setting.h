// Reads the setting `redis`: the URL of the server that coordinates replays, which may hold a password.
#pragma once

#include <optional>
#include <string>

#include "core/config/conf.h"
#include "core/config/settings.h"

namespace flor::core {

// Returns FLOR_REDIS, else `redis` of flor.conf. Where FLOR_REDIS is the URL of flor.conf without its
// password, returns that of flor.conf. So the environment tells a worker the server and login, and the user's
// own flor.conf the password.
std::optional<std::string> redis_url(const Settings& settings);

// Would a process of this user find `url` if its environment held without_password(url)?
bool is_found_without_password(const Settings& settings, const std::string& url);

}  // namespace flor::core
