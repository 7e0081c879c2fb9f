#include "probes/program/scopes.h"

#include <algorithm>

namespace flor::probes {

void Scopes::close() {
  locals_.all.resize(locals_.opened.back());
  locals_.opened.pop_back();
}

int Scopes::declare(Symbol symbol) {
  if (locals_.opened.empty()) symbol.name = one_name(symbol.name);
  const int name = number(symbol.name);
  if (locals_.opened.empty()) {
    // Several declarations of one name are one variable: what is known must hold for all of them.
    const bool known = nonlocals_[static_cast<size_t>(name)] >= 0;
    const int index = nonlocal(name, symbol.name);
    Symbol& all = model_.symbols[static_cast<size_t>(index)];
    all.plain = symbol.plain && (!known || all.type.empty() || all.plain);
    all.constant = symbol.constant && (!known || all.type.empty() || all.constant);
    all.reference = all.reference || symbol.reference;
    all.points = all.points || symbol.points;
    all.dimensions = std::max(all.dimensions, symbol.dimensions);
    if (all.type.empty()) all.type = symbol.type;
    if (all.type != symbol.type) all.type = "several";
    return index;
  }
  const int index = static_cast<int>(model_.symbols.size());
  locals_.all.push_back({name, index});
  model_.symbols.push_back(std::move(symbol));
  return index;
}

int Scopes::number(const std::string& name) {
  const auto [at, fresh] = numbers_.emplace(name, static_cast<int>(nonlocals_.size()));
  if (fresh) nonlocals_.push_back(-1);
  return at->second;
}

int Scopes::local(int name) const {
  for (auto one = locals_.all.rbegin(); one != locals_.all.rend(); ++one) {
    if (one->name == name) return one->symbol;
  }
  return -1;
}

int Scopes::find_local(const std::string& name) const {
  if (locals_.all.empty()) return -1;
  const auto at = numbers_.find(name);
  return at == numbers_.end() ? -1 : local(at->second);
}

int Scopes::find(const std::string& name) {
  const int asked = number(name);
  const int found = local(asked);
  return found >= 0 ? found : nonlocal(name);
}

int Scopes::nonlocal(const std::string& name) {
  const std::string& one = one_name(name);
  return nonlocal(number(one), one);
}

int Scopes::nonlocal(int number, const std::string& name) {
  int& found = nonlocals_[static_cast<size_t>(number)];
  if (found < 0) {
    found = static_cast<int>(model_.symbols.size());
    Symbol symbol;
    symbol.name = name;
    model_.symbols.push_back(std::move(symbol));
  }
  return found;
}

}  // namespace flor::probes
