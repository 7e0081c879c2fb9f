// Reads the user's settings for the checkpoints of a recording: when they are taken, how, and which are kept.
#pragma once

#include "core/config/settings.h"
#include "core/store/manifest.h"

namespace flor::core {

// Writes the settings into `m`. For a further attempt (`resumed`) takes only the environment's, which flags
// set: flor.conf is for new runs. Warns about an invalid value, and keeps that of `m`.
void set_policy(const Settings& settings, Manifest& m, bool resumed);

}  // namespace flor::core
