// Formats the decisions of the adaptive policy for `flor show --policy`. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/manifest.h"
#include "core/store/timeline.h"

namespace flor::results {

// Returns one line per decision: the cost, what equation 4 allowed, the decision.
std::string policy_table(const core::Manifest& manifest, const core::Timeline& timeline);

// The last decision about each kind of checkpoint as a sentence with its figures, in order of first
// appearance.
struct Explained {
  std::string block;
  std::string sentence;
};
std::vector<Explained> explain_last(const core::Manifest& manifest, const core::Timeline& timeline);

// Returns the decisions. Adds `ratio`, the cost M over the seconds of the execution, and `allowed`, the
// largest ratio that equation 4 (core/policy/policy.h) allowed.
core::Json policy_json(const core::Manifest& manifest, const core::Timeline& timeline);

}  // namespace flor::results
