// Finds which variables share storage.
#include <algorithm>

#include "probes/flow/flow.h"

namespace flor::probes {

const std::vector<int>& Flow::reach(const Graph& graph, Reached& memory, int symbol) const {
  if (memory.known.size() != graph.size()) {
    memory.found.assign(graph.size(), {});
    memory.known.assign(graph.size(), false);
  }
  std::vector<int>& found = memory.found[static_cast<size_t>(symbol)];
  if (memory.known[static_cast<size_t>(symbol)]) return found;
  memory.known[static_cast<size_t>(symbol)] = true;
  std::set<int> seen{symbol};
  std::vector<int> waiting{symbol};
  while (!waiting.empty()) {
    const int at = waiting.back();
    waiting.pop_back();
    for (const int next : graph[static_cast<size_t>(at)]) {
      if (!seen.insert(next).second) continue;
      found.push_back(next);
      waiting.push_back(next);
    }
  }
  return found;
}

// True: that is new.
bool Flow::join(int from, int to) {
  kept_by_.erase({from, to});
  std::vector<int>& all = leads_[static_cast<size_t>(from)];
  if (from == to || std::find(all.begin(), all.end(), to) != all.end()) return false;
  all.push_back(to);
  led_by_[static_cast<size_t>(to)].push_back(from);
  return true;
}

// The object leads there by these members alone.
bool Flow::join_by(int object, int to, const std::set<int>& members) {
  const auto known = kept_by_.find({object, to});
  if (known == kept_by_.end()) {
    if (!join(object, to)) return false;
    kept_by_[{object, to}] = members;
    return true;
  }
  const size_t before = known->second.size();
  known->second.insert(members.begin(), members.end());
  return known->second.size() != before;
}

void Flow::forget() const {
  led_to_.known.clear();
  leading_.known.clear();
  by_member_.clear();
}

std::vector<int> Flow::leads_by(const AccessPath& path) const {
  if (path.fields.empty() || model_.text(path.fields[0])[0] == '(') return leads(path.symbol);
  std::vector<int> out;
  for (const int to : leads(path.symbol)) {
    const auto kept = kept_by_.find({path.symbol, to});
    if (kept == kept_by_.end() || kept->second.count(path.fields[0]) != 0) out.push_back(to);
  }
  return out;
}

// May the change in depth change the variable, too?
bool Flow::reaches(const Definition& change, int symbol) const {
  const AccessPath& path = change.path;
  if (path.fields.empty() || model_.text(path.fields[0])[0] == '(') return true;
  const auto [at, fresh] =
      by_member_.emplace(std::make_tuple(path.symbol, path.fields[0], change.rebinds), std::set<int>{});
  if (fresh) {
    for (const int to : leads_by(path)) {
      if (change.rebinds && kept_by_.count({path.symbol, to}) != 0) continue;
      at->second.insert(to);
      const std::vector<int>& more = led_to(to);
      at->second.insert(more.begin(), more.end());
    }
  }
  return at->second.count(symbol) != 0;
}

void Flow::join_shared() {
  leads_.resize(model_.symbols.size());
  led_by_.resize(model_.symbols.size());
  for (const auto& [a, b] : model_.shared) join(a, b);
  join_results();
  while (join_kept()) join_results();
}

// A parameter that a function keeps in a member, a global or a lambda leads on to what callers hand in, and
// the object whose member it is leads to the parameter.
bool Flow::join_kept() {
  std::map<int, std::set<int>> kept;  // parameters: by which members, −1: by what is no member
  for (size_t i = 0; i < model_.symbols.size(); ++i) {
    const Symbol& symbol = model_.symbols[i];
    if (symbol.function >= 0 || leads_[i].empty()) continue;
    const int name = model_.find(symbol.name);
    const bool member = name >= 0 && model_.members.count(name) != 0;
    for (const int to : led_to(static_cast<int>(i))) {
      if (model_.symbol(to).parameter >= 0) kept[to].insert(member ? name : -1);
    }
  }
  for (const int captured : captured_) {
    std::vector<int> all = led_to(captured);
    all.push_back(captured);
    for (const int one : all) {
      if (model_.symbol(one).parameter >= 0) kept.emplace(one, std::set<int>{-1});
    }
  }
  bool joined = false;
  for (const auto& [parameter, members] : kept) {
    const Symbol& symbol = model_.symbol(parameter);
    if (symbol.plain || symbol.function < 0) continue;
    const auto position = static_cast<size_t>(symbol.parameter);
    for (const Site& site : sites_[static_cast<size_t>(symbol.function)]) {
      if (position >= site.call->arguments.size()) continue;
      for (const AccessPath& path : site.call->arguments[position].roots)
        joined = join(parameter, path.symbol) || joined;
      const int object = site.call->receiver.symbol;
      if (object < 0) continue;
      const bool by_members = site.call->receiver.fields.empty() && members.count(-1) == 0;
      joined = (by_members ? join_by(object, parameter, members) : join(object, parameter)) || joined;
    }
  }
  return joined;
}

}  // namespace flor::probes
