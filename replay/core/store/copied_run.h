// Decides whether a run may be written into, and its programs started: it may be a copy of another user's,
// with the links and the modes that its author gave it.
#pragma once

#include <string>

#include "core/store/store.h"

namespace flor::core {

// Returns why not, in one line: something in the run is a link, behind which files would be written and
// removed; or other users may write there, and so change what a replay starts. "" where neither holds. Looks
// at every name in the run once, and opens no file. A group may write where it may write to the store.
std::string why_not_ones_own(const RunDir& run);

// Finds a run that is written into, or whose program is started. Throws UsageError as Store::find_own() does,
// and where why_not_ones_own() says why not.
RunDir find_ones_own(const Store& store, const std::string& id_or_label);

}  // namespace flor::core
