#include "probes/flow/held.h"

#include <algorithm>
#include <set>

namespace flor::probes {
namespace {

constexpr int kMaxViews = 8;  // of views of views

bool begins_with(const Fields& fields, const Fields& begin) {
  return fields.size() >= begin.size() && std::equal(begin.begin(), begin.end(), fields.begin());
}

// Does one of `held` hold the path? `changed`: is a part of an object changed that is no state of a module?
template <typename Changed>
bool holds(const Model& model, const std::vector<AccessPath>& held, const AccessPath& path,
           const Changed& changed, int depth) {
  for (const AccessPath& one : held) {
    if (one.symbol != path.symbol || !begins_with(path.fields, one.fields)) continue;
    AccessPath part = one;
    bool whole = true;
    for (size_t i = one.fields.size(); i < path.fields.size() && whole; ++i) {
      part.fields.push_back(path.fields[i]);
      const bool state = model.text(path.fields[i])[0] == '(' ||
                         model.registered.count(path.fields[i]) != 0 ||
                         model.hooked.count(path.fields[i]) != 0;
      if (!state) {
        whole = !changed(part);
        break;
      }
    }
    if (whole) return true;
  }
  const Symbol& symbol = model.symbol(path.symbol);
  if (!symbol.view || symbol.views.empty() || depth == 0) return false;
  return std::all_of(symbol.views.begin(), symbol.views.end(), [&](const AccessPath& source) {
    return holds(model, held, source, changed, depth - 1);
  });
}

// Does it change this part of an object, which is no state of a module? A module that computes or is
// switched, and an optimizer's step, change nothing else of it, unless they name it.
bool changes_part(const Model& model, const Definition& one, const AccessPath& part) {
  const size_t size = part.fields.size();
  if (one.path.symbol == part.symbol && one.path.fields.size() >= size) return true;
  // `weight` of LibTorch's: what is written into it, whoever names it, the module's state has.
  const bool tensor = size >= 2 && model.registered.count(part.fields[size - 2]) != 0 &&
                      model.members.count(part.fields.back()) == 0;
  if (tensor && one.path.symbol != part.symbol && one.cause == Cause::kCertain)
    return !one.path.fields.empty() && one.path.fields.back() == part.fields.back();
  return !one.steps && one.cause != Cause::kMode && one.cause != Cause::kSwitch;
}

// Is it changed where it is a view: the variable itself, and not what it leads to?
bool rebinds(const Definition& one, const AccessPath& path) {
  return one.path.symbol == path.symbol && !one.deep;
}

}  // namespace

bool block_holds(const Flow& flow, int block, const AccessPath& path) {
  const Model& model = flow.model();
  const auto runs = [&](const Definition* one) {
    return flow.blocks_running(one->statement).count(block) != 0;
  };
  const auto changed = [&](const AccessPath& part) {
    const auto all = flow.definitions_of(part);
    return std::any_of(all.begin(), all.end(),
                       [&](const Definition* one) { return runs(one) && changes_part(model, *one, part); });
  };
  const std::vector<AccessPath>& held = flow.held_by(block);
  if (!holds(model, held, path, changed, kMaxViews)) return false;
  const bool direct =
      std::any_of(held.begin(), held.end(), [&](const AccessPath& one) { return one.symbol == path.symbol; });
  if (direct) return true;
  const auto all = flow.definitions_of(path);
  return std::none_of(all.begin(), all.end(),
                      [&](const Definition* one) { return runs(one) && rebinds(*one, path); });
}

bool guard_holds(const Flow& flow, const AccessPath& path) {
  const Model& model = flow.model();
  const auto changed = [&](const AccessPath& part) {
    const auto all = flow.definitions_of(part);
    return std::any_of(all.begin(), all.end(), [&](const Definition* one) {
      return flow.in_main_loop(one->statement) && changes_part(model, *one, part);
    });
  };
  return holds(model, model.guarded, path, changed, kMaxViews) ||
         holds(model, model.guarded, flow.bound(path), changed, kMaxViews);
}

std::vector<Unheld> unheld(const Flow& flow) {
  const Model& model = flow.model();
  std::vector<Unheld> out;
  std::set<std::pair<std::string, std::string>> said;
  const auto add = [&](const std::string& block, const Definition& one) {
    const Statement& at = model.statement(one.statement);
    const std::string name = model.text_of(one.path);
    if (!said.insert({block, name}).second) return;
    out.push_back({block, name, model.program->sources[static_cast<size_t>(at.source)].name, model.line(at)});
  };
  const auto is_variable = [&](const AccessPath& path) {
    const Symbol& symbol = model.symbol(path.symbol);
    const bool stream = symbol.type.find("stream") != std::string::npos;
    const bool known =
        symbol.function >= 0 || model.members.count(model.find(symbol.name)) != 0 || !symbol.type.empty();
    return known && !stream && !symbol.constant && symbol.name != "this";
  };
  for (size_t s = 0; s < model.statements.size(); ++s) {
    const int statement = static_cast<int>(s);
    for (const Definition& one : flow.changes_of(statement)) {
      if (!is_variable(one.path)) continue;
      for (const int block : flow.blocks_running(statement)) {
        const bool own =
            flow.declared_in(block, one.path.symbol) ||
            (model.symbol(one.path.symbol).parameter >= 0 &&
             model.symbol(one.path.symbol).function != model.blocks[static_cast<size_t>(block)].function);
        if (!own && !block_holds(flow, block, one.path))
          add(model.blocks[static_cast<size_t>(block)].name, one);
      }
      if (model.has_guard && flow.in_main_loop(statement) && flow.is_carried(one.path) &&
          !guard_holds(flow, one.path))
        add("", one);
    }
  }
  return out;
}

}  // namespace flor::probes
