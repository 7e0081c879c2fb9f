// Functions that are kept and called later: what they captured, and which members they change.
#include <algorithm>

#include "probes/cxx/library.h"
#include "probes/flow/flow.h"

namespace flor::probes {
namespace {

// The function of the program around a lambda; 0: none.
int around(const Model& model, int function) {
  while (function > 0 && model.function(function).node < 0) function = model.function(function).outer;
  return std::max(function, 0);
}

}  // namespace

// A lambda that is kept may call the others of its function.
void Flow::find_captured() {
  std::set<int> keeping, captured;
  for (size_t f = 1; f < model_.functions.size(); ++f) {
    const int function = around(model_, static_cast<int>(f));
    if (model_.functions[f].escapes && function != static_cast<int>(f)) keeping.insert(function);
  }
  for (size_t f = 1; f < model_.functions.size(); ++f) {
    const int function = around(model_, static_cast<int>(f));
    if (function == static_cast<int>(f) || keeping.count(function) == 0) continue;
    for (const AccessPath& path : used_by(model_, static_cast<int>(f))) {
      if (model_.symbol(path.symbol).function >= 0) captured.insert(path.symbol);
    }
  }
  captured_.assign(captured.begin(), captured.end());
}

// Changes of members by `this` that a lambda captured. No call tells whose members they are.
void Flow::find_kept_changes() {
  for (size_t f = 1; f < model_.functions.size(); ++f) {
    const Function& function = model_.functions[f];
    if (!function.escapes || function.node >= 0) continue;
    const int owner = model_.function(around(model_, static_cast<int>(f))).owner;
    for (const Definition& one : summaries_[f]) {
      if (one.path.symbol == this_ || is_member(one.path.symbol)) kept_changes_.push_back({&one, owner});
    }
  }
}

// A whole object is changed where it has the class of the lambda; its members, whatever it is.
void Flow::add_kept_changes(const AccessPath& path, std::vector<const Definition*>* out) const {
  if (kept_changes_.empty() || is_member(path.symbol) || path.symbol == this_) return;
  const auto last = path.fields.empty() ? members_.end() : members_.find(path.fields.back());
  const bool typed = path.fields.empty() || last != members_.end();
  const std::string type =
      typed ? last_part(model_.symbol(path.fields.empty() ? path.symbol : last->second).type) : "";
  for (const auto& [one, owner] : kept_changes_) {
    const std::string of = owner < 0 ? "" : model_.text(owner);
    const int name = member_names_[static_cast<size_t>(one->path.symbol)];
    const bool named = std::find(path.fields.begin(), path.fields.end(), name) != path.fields.end();
    if (named || (typed && !type.empty() && (type == of || type + "Impl" == of))) out->push_back(one);
  }
}

}  // namespace flor::probes
