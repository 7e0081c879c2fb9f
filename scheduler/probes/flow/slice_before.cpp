// What is certain about a variable when a statement reads it: set again, restored, switched.
#include <algorithm>

#include "probes/flow/held.h"
#include "probes/flow/slice.h"

namespace flor::probes {

// Is the variable certainly given a value of its own between the start of the iteration, or the function, and
// the statement? Then only what happens to it from there on counts.
bool Slice::set_before(const AccessPath& path, int statement) {
  const Symbol& symbol = model_.symbol(path.symbol);
  const Statement& at = model_.statement(statement);
  if (!symbol.plain || symbol.lasting || symbol.constant || symbol.loop_value) return false;
  const auto is_around = [&](int outer, int inner) {
    for (int up = model_.statement(inner).parent; up >= 0; up = model_.statement(up).parent) {
      if (up == outer) return true;
    }
    return outer < 0;
  };
  int setter = -1;
  for (const int other : model_.function(at.function).statements) {
    const Statement& candidate = model_.statement(other);
    if (candidate.begin >= at.begin || flow_.sets_whole(other) != path.symbol) continue;
    if (candidate.parent < 0 || is_around(candidate.parent, statement)) setter = other;
  }
  if (setter < 0 || flow_.blocks_around(setter) != flow_.blocks_around(statement)) return false;
  for (int up = at.parent; up >= 0; up = model_.statement(up).parent) {
    if (flow_.is_main_loop(up) && !is_around(up, setter)) return false;
  }
  std::vector<const Definition*> between;
  for (const Definition* one : flow_.definitions_of(path)) {
    const Statement& by = model_.statement(one->statement);
    if (by.function == 0 && !by.apart) continue;  // in front of everything
    if (by.source == at.source && by.function == at.function && by.begin < model_.statement(setter).begin)
      continue;
    const bool after = by.function == at.function && by.source == at.source && by.begin > at.begin;
    // A change after the statement counts if a loop leads back to it without passing the setter.
    bool again = false;
    for (int up = at.parent; after && up >= 0; up = model_.statement(up).parent) {
      const bool loop = is_around(up, one->statement) && !is_around(up, setter);
      again = again || loop;
    }
    if (after && !again) continue;
    const bool shared = one->deep && one->path.symbol != path.symbol;
    if (by.function != at.function || one->parameter >= 0 || shared) return false;
    if (flow_.blocks_around(one->statement) != flow_.blocks_around(statement)) return false;
    between.push_back(one);
  }
  const int function = at.function;
  for (const Definition* one : between) {
    if (model_.statement(one->statement).function == function) need(one->statement);
  }
  return true;
}

// Is the module set to train or to evaluate in front of the statement, and outside of blocks that it is not
// in?
bool Slice::is_switched_before(const AccessPath& module, int statement) const {
  const Statement& at = model_.statement(statement);
  if (model_.find("(*)") < 0) return false;
  for (const int other : model_.function(at.function).statements) {
    const Statement& before = model_.statement(other);
    if (before.begin >= at.begin) break;
    if (flow_.blocks_around(other) != flow_.blocks_around(statement)) continue;
    bool around = before.parent < 0;
    for (int up = at.parent; up >= 0; up = model_.statement(up).parent)
      around = around || up == before.parent;
    if (!around || (flow_.in_main_loop(statement) && !flow_.in_main_loop(other))) continue;
    for (const Definition& one : flow_.changes_of(other)) {
      const bool whole = module.fields.empty() && one.path.symbol == module.symbol;
      if (one.cause == Cause::kSwitch && (whole || flow_.switches(one, module))) return true;
    }
  }
  return false;
}

// Does a skipped block restore the variable on the way to the statement, and nothing change it after that?
bool Slice::restored_before(const AccessPath& path, int statement) {
  const Statement& at = model_.statement(statement);
  for (size_t b = 0; b < model_.blocks.size(); ++b) {
    if (!go_on()) return false;
    const Block& block = model_.blocks[b];
    const int index = static_cast<int>(b);
    if (executes(index) || block.source != at.source || block.function != at.function ||
        block.end > at.begin || !block_holds(flow_, index, path)) {
      continue;
    }
    // It stands in the list of an iteration, or of a function, so it is on every way.
    const int head = flow_.head_of(index);
    if (head < 0) continue;
    const int around = model_.statement(head).parent;
    bool same_list = around < 0;
    for (int up = at.parent; up >= 0; up = model_.statement(up).parent) same_list = same_list || up == around;
    const auto all = flow_.definitions_of(path);
    const bool changed = std::any_of(all.begin(), all.end(), [&](const Definition* one) {
      const Statement& by = model_.statement(one->statement);
      if (flow_.blocks_running(one->statement).count(index) != 0) return false;
      const bool here = by.source == at.source && by.function == at.function;
      return !here || (by.begin >= block.end && by.begin < at.begin);
    });
    if (!same_list || changed || !flow_.led_to(path.symbol).empty()) continue;
    wants_.depends.insert(index);
    if (visited_.insert(path).second && wants_.inputs.size() < kMaxInputs)
      wants_.inputs.push_back({model_.text_of(path), true, "block " + block.name + " holds it"});
    return true;
  }
  return false;
}

}  // namespace flor::probes
