#include "probes/flow/flow.h"

#include <algorithm>
#include <deque>

#include "probes/cxx/library.h"

namespace flor::probes {
namespace {

constexpr size_t kMaxFields = 2;     // of a path that a function hands to its callers
constexpr size_t kMaxSummary = 400;  // paths that one function is known to change or read

AccessPath shortened(AccessPath path) {
  if (path.fields.size() > kMaxFields) path.fields.shorten(kMaxFields);
  return path;
}

bool same(const Definition& a, const Definition& b) {
  return a.path.symbol == b.path.symbol && a.path.fields == b.path.fields && a.deep == b.deep;
}

bool add(std::vector<Definition>* to, const Definition& one) {
  if (to->size() >= kMaxSummary) return false;
  for (Definition& other : *to) {
    if (!same(one, other)) continue;
    const bool more =
        one.cause < other.cause || (other.rebinds && !one.rebinds) || (other.steps && !one.steps);
    other.cause = std::min(other.cause, one.cause);
    other.rebinds = other.rebinds && one.rebinds;
    other.steps = other.steps && one.steps;
    return more;
  }
  to->push_back(one);
  return true;
}

}  // namespace

AccessPath within(const AccessPath& object, const Fields& fields) {
  AccessPath out = shortened(object);
  const size_t more = std::min(kMaxFields - out.fields.size(), fields.size());
  out.fields.insert(out.fields.end(), fields.begin(), fields.begin() + more);
  return out;
}

bool operator<(const AccessPath& a, const AccessPath& b) {
  return std::tie(a.symbol, a.fields) < std::tie(b.symbol, b.fields);
}

Flow::Flow(const Model& model) : model_(model) {
  member_names_.assign(model_.symbols.size(), -1);
  for (size_t i = 0; i < model_.symbols.size(); ++i) {
    if (model_.symbols[i].function < 0 && model_.symbols[i].name == "this") this_ = static_cast<int>(i);
    const int name = model_.symbols[i].function < 0 ? model_.find(model_.symbols[i].name) : -1;
    if (name < 0 || model_.members.count(name) == 0 || model_.statics.count(name) != 0) continue;
    member_names_[i] = name;
    members_[name] = static_cast<int>(i);
  }
  find_callers();
  find_captured();
  join_shared();
  find_result_paths();
  find_unseen();
  find_blocks();
  find_held();
  find_loops();
  find_own_reads();
  summarise();
  find_kept_changes();
  index();
}

void Flow::find_callers() {
  sites_.resize(model_.functions.size());
  for (size_t s = 0; s < model_.statements.size(); ++s) {
    for (const Call& call : model_.statements[s].calls) {
      for (const int callee : callees_of(call))
        sites_[static_cast<size_t>(callee)].push_back({static_cast<int>(s), &call});
    }
  }
}

// Is it, to the called method, a member of the object that it is called on, or `this`?
bool Flow::is_of_receiver(const Call& call, int callee, const AccessPath& path) const {
  if (!call.method || call.receiver.symbol < 0 || !model_.function(callee).method) return false;
  return path.symbol == this_ || member_names_[static_cast<size_t>(path.symbol)] >= 0;
}

bool Flow::is_new_member(int callee, const AccessPath& path) const {
  const Function& function = model_.function(callee);
  if (function.owner < 0 || function.owner != function.name) return false;
  return member_names_[static_cast<size_t>(path.symbol)] >= 0;
}

AccessPath Flow::as_called(const Call& call, int callee, const AccessPath& path) const {
  if (!is_of_receiver(call, callee, path)) return path;
  const AccessPath object = resolved(call.receiver);
  if (path.symbol == this_) return within(object, path.fields);
  return within(within(object, {member_names_[static_cast<size_t>(path.symbol)]}), path.fields);
}

// Computes what a call of this function changes for its caller.
void Flow::apply(int statement, const Call& call, int callee, std::vector<Definition>* out) const {
  for (const Definition& change : summaries_[static_cast<size_t>(callee)]) {
    const Symbol& symbol = model_.symbol(change.path.symbol);
    const bool own = symbol.function == callee && symbol.parameter >= 0;
    if (!own) {
      // What computing leaves in a module beside its state (a counter, a cache) is its own business.
      const int name = model_.function(callee).name;
      const bool computes =
          (name >= 0 && model_.text(name) == "forward") || model_.function(callee).of_module;
      const Cause cause = computes ? std::max(change.cause, Cause::kMode) : change.cause;
      if (is_of_receiver(call, callee, change.path))
        add(out, {statement, as_called(call, callee, change.path), true, -1, change.path.symbol, cause,
                  !change.deep && change.path.fields.empty(), change.steps});
      continue;
    }
    const auto position = static_cast<size_t>(symbol.parameter);
    if (position >= call.arguments.size()) continue;
    const Argument& argument = call.arguments[position];
    for (const AccessPath& path : argument.roots) {
      if (model_.symbol(path.symbol).constant || model_.symbol(path.symbol).loop_value) continue;
      add(out, {statement, within(resolved(path), change.path.fields), change.deep || !argument.is_variable,
                change.path.symbol, -1, change.cause, false, change.steps});
    }
  }
}

// Returns whether the summary of a called function grew since it was last used.
bool Flow::has_news(int statement) const {
  const std::vector<int>& seen = seen_[static_cast<size_t>(statement)];
  if (seen.empty()) return true;  // never analysed before
  size_t position = 0;
  for (const Call& call : model_.statement(statement).calls) {
    for (const int callee : call.callees) {
      if (seen[++position] != versions_[static_cast<size_t>(callee)]) return true;
    }
  }
  return false;
}

// Recomputes what the statements of the function change. Returns whether its callers see more than before.
bool Flow::summarise(int index) {
  const Function& function = model_.function(index);
  bool more = false;
  std::vector<Definition>& summary = summaries_[static_cast<size_t>(index)];
  std::set<AccessPath>& reads = reads_[static_cast<size_t>(index)];
  std::string& clock = volatile_[static_cast<size_t>(index)];
  const auto options_of = [&](const AccessPath& path) {
    const bool options = !path.fields.empty() && model_.text(path.fields.back()) == "(options)";
    return options ? Fields{path.fields.back()} : Fields{};
  };
  const auto hand_on = [&](const Definition& change) {
    const Symbol& symbol = model_.symbol(change.path.symbol);
    const bool foreign = symbol.function != index || symbol.lasting;
    const bool parameter =
        symbol.function == index && symbol.parameter >= 0 && (change.deep || symbol.reference);
    Definition one = change;
    one.path = shortened(one.path);
    one.deep = one.deep || parameter;
    if ((foreign || parameter) && add(&summary, one)) more = true;
    if (!change.deep) return;
    for (const int other : led_to(change.path.symbol)) {
      const Symbol& shared = model_.symbol(other);
      const bool seen = shared.function != index || shared.parameter >= 0;
      if (other != change.path.symbol && seen && (shared.function < 0 || shared.function == index) &&
          add(&summary, {change.statement,
                         {other, options_of(change.path)},
                         true,
                         -1,
                         -1,
                         change.cause,
                         false,
                         change.steps})) {
        more = true;
      }
    }
  };
  const auto note = [&](const AccessPath& path) {
    const Symbol& symbol = model_.symbol(path.symbol);
    const bool seen = symbol.function != index || symbol.parameter >= 0 || symbol.lasting;
    if (seen && !symbol.constant && reads.size() < kMaxSummary && reads.insert(shortened(path)).second)
      more = true;
  };
  std::set<int> set;  // variables that the function has certainly set by then
  for (const int s : function.statements) {
    const Statement& statement = model_.statement(s);
    std::vector<Definition>& changes = changes_[static_cast<size_t>(s)];
    if (!has_news(s)) {
      if (const int symbol = sets_whole(s); symbol >= 0 && statement.parent < 0) set.insert(symbol);
      continue;
    }
    if (clock.empty() && !statement.volatile_name.empty()) {
      clock = statement.volatile_name;
      more = true;
    }
    for (const AccessPath& path : own_reads(s)) {
      if (set.count(path.symbol) == 0) note(path);
    }
    if (const int symbol = sets_whole(s); symbol >= 0 && statement.parent < 0) set.insert(symbol);
    std::vector<int>& seen = seen_[static_cast<size_t>(s)];
    size_t position = 0;
    seen.resize(std::max<size_t>(seen.size(), 1), 0);
    for (const Call& call : statement.calls) {
      for (const int callee : callees_of(call)) {
        if (++position >= seen.size()) seen.push_back(-1);
        if (std::exchange(seen[position], versions_[static_cast<size_t>(callee)]) ==
            versions_[static_cast<size_t>(callee)]) {
          continue;
        }
        apply(s, call, callee, &changes);
        if (clock.empty() && !volatile_[static_cast<size_t>(callee)].empty()) {
          clock = volatile_[static_cast<size_t>(callee)];
          more = true;
        }
        // What it changes outside of itself: globals, variables around a lambda, members of the calling
        // object. By position: of a function that calls itself it grows meanwhile.
        for (size_t i = 0; i < summaries_[static_cast<size_t>(callee)].size(); ++i) {
          const Definition& change = summaries_[static_cast<size_t>(callee)][i];
          if (model_.symbol(change.path.symbol).function != callee &&
              !is_of_receiver(call, callee, change.path))
            hand_on(Definition(change));
        }
        for (const AccessPath& path : reads_[static_cast<size_t>(callee)]) {
          if (model_.symbol(path.symbol).function != callee && !is_new_member(callee, path))
            note(as_called(call, callee, path));
          for (const AccessPath& one : as_handed(call, callee, path)) note(one);
        }
        for (size_t i = 0; reads_too_much(callee) && i < call.arguments.size(); ++i) {
          for (const AccessPath& path : call.arguments[i].roots) note(path);
        }
      }
    }
    for (const Definition& change : changes) hand_on(change);
  }
  return more;
}

bool Flow::reads_too_much(int function) const {
  return reads_[static_cast<size_t>(function)].size() >= kMaxSummary;
}

void Flow::summarise() {
  const size_t functions = model_.functions.size();
  summaries_.resize(functions);
  reads_.resize(functions);
  volatile_.resize(functions);
  versions_.resize(functions, 0);
  seen_.resize(model_.statements.size());
  changes_.resize(model_.statements.size());
  for (size_t s = 0; s < changes_.size(); ++s) {
    for (const Change& change : model_.statements[s].changes)
      changes_[s].push_back({static_cast<int>(s), resolved(change.path), change.deep, -1, -1, change.cause,
                             false, change.steps});
  }
  std::deque<int> waiting;  // all in turn: what a function is known to do grows before its callers ask again
  std::vector<bool> queued(functions, true);
  for (size_t f = functions; f-- > 0;) waiting.push_back(static_cast<int>(f));
  while (!waiting.empty()) {
    const int f = waiting.front();
    waiting.pop_front();
    queued[static_cast<size_t>(f)] = false;
    if (!summarise(f)) continue;
    ++versions_[static_cast<size_t>(f)];
    for (const Site& site : sites_[static_cast<size_t>(f)]) {
      const int caller = model_.statement(site.statement).function;
      if (queued[static_cast<size_t>(caller)]) continue;
      queued[static_cast<size_t>(caller)] = true;
      waiting.push_back(caller);
    }
  }
}

void Flow::index() {
  by_symbol_.resize(model_.symbols.size());
  module_.resize(model_.symbols.size(), false);
  for (const auto& changes : changes_) {
    for (const Definition& change : changes) {
      by_symbol_[static_cast<size_t>(change.path.symbol)].push_back(&change);
      if (change.cause == Cause::kSwitch || change.cause == Cause::kMode)
        module_[static_cast<size_t>(change.path.symbol)] = true;
    }
  }
}

// Returns whether the path is a module inside the one that is set to training or evaluation mode. It is then
// set, too.
bool Flow::switches(const Definition& change, const AccessPath& path) const {
  if (change.cause != Cause::kSwitch || change.path.fields.empty() || path.fields.empty() ||
      change.path.symbol != path.symbol || model_.text(change.path.fields.back()) != "(mode)")
    return false;
  const std::vector<int> module(change.path.fields.begin(), change.path.fields.end() - 1);
  const bool within =
      module.size() <= path.fields.size() && std::equal(module.begin(), module.end(), path.fields.begin());
  if (!within || model_.text(path.fields.back()) == "(mode)") return within;
  const auto member = members_.find(path.fields.back());
  const std::string type = member == members_.end() ? "" : model_.symbol(member->second).type;
  return model_.registered.count(path.fields.back()) != 0 &&
         !is_module_without_mode(type, model_.program->words.count("dropout") != 0);
}

// Members that a class declares and no module owns are neither.
bool Flow::is_state(const Definition& change, const AccessPath& path) const {
  if (path.fields.empty() || change.path.symbol != path.symbol ||
      change.path.fields.size() < path.fields.size())
    return false;
  const std::string& part = model_.text(path.fields.back());
  const int name = change.path.fields[path.fields.size() - 1];
  return (part == "(parameters)" || part == "(buffers)") &&
         std::equal(path.fields.begin(), path.fields.end() - 1, change.path.fields.begin()) &&
         model_.text(name)[0] != '(' &&
         (model_.registered.count(name) != 0 || model_.members.count(name) == 0);
}

std::vector<const Definition*> Flow::definitions_of(const AccessPath& asked) const {
  std::vector<const Definition*> out;
  AccessPath path = asked;
  if (!path.fields.empty() && model_.text(path.fields.back()) == "(*)") {  // all of a module but its mode
    path.fields.shorten(path.fields.size() - 1);
    out = definitions_of(path);
    out.erase(std::remove_if(out.begin(), out.end(),
                             [](const Definition* one) { return one->cause == Cause::kSwitch; }),
              out.end());
    return out;
  }
  for (const Definition* one : by_symbol_[static_cast<size_t>(path.symbol)]) {
    if (overlap(one->path, path) || switches(*one, path) || is_state(*one, path)) out.push_back(one);
  }
  const Symbol& symbol = model_.symbol(path.symbol);
  if (symbol.constant || symbol.loop_value) return out;
  add_kept_changes(path, &out);
  // A function that gets `*this` may change any member.
  if (symbol.function < 0 && this_ >= 0 && path.symbol != this_) {
    const auto& all = by_symbol_[static_cast<size_t>(this_)];
    out.insert(out.end(), all.begin(), all.end());
  }
  for (const int other : reach(led_by_, leading_, path.symbol)) {
    for (const Definition* one : by_symbol_[static_cast<size_t>(other)]) {
      // A module has its own mode. One that was built from it has another.
      const bool part = !one->path.fields.empty() && model_.text(one->path.fields.back())[0] == '(';
      // Options of an optimizer do not belong to the modules that it was created with.
      if (part && is_module(path.symbol) && model_.text(one->path.fields.back()) == "(options)") continue;
      if (one->deep && (!part || model_.symbol(other).view) && reaches(*one, path.symbol)) out.push_back(one);
    }
  }
  return out;
}

}  // namespace flor::probes
