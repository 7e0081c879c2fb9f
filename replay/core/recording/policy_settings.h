// What the user asked of a recording's checkpoints: when they are taken, how, and which stay.
#pragma once

#include "core/config/settings.h"
#include "core/store/manifest.h"

namespace flor::core {

// Into `m`. Of a further attempt (`resumed`) only what this one asks for: a configuration file only speaks
// for new runs. One line tells of a value that is none, and what `m` says holds.
void set_policy(const Settings& settings, Manifest& m, bool resumed);

}  // namespace flor::core
