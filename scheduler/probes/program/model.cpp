#include "probes/program/model.h"

#include <algorithm>

namespace flor::probes {

bool overlap(const AccessPath& a, const AccessPath& b) {
  if (a.symbol != b.symbol) return false;
  const size_t common = std::min(a.fields.size(), b.fields.size());
  return std::equal(a.fields.begin(), a.fields.begin() + common, b.fields.begin());
}

int Model::name(const std::string& text) {
  const auto [at, fresh] = names.emplace(text, static_cast<int>(texts.size()));
  if (fresh) texts.push_back(text);
  return at->second;
}

int Model::find(const std::string& text) const {
  const auto at = names.find(text);
  return at == names.end() ? -1 : at->second;
}

int Model::line(const Statement& statement) const {
  const Tree& tree = program->sources[static_cast<size_t>(statement.source)].tree;
  return statement.begin < tree.tokens.size() ? tree.tokens[statement.begin].line : 1;
}

std::string Model::where(const Statement& statement) const {
  return program->sources[static_cast<size_t>(statement.source)].name + ":" + std::to_string(line(statement));
}

std::string Model::text_of(const AccessPath& path) const {
  std::string out = symbol(path.symbol).name;
  for (const int field : path.fields) out += "." + text(field);
  return out;
}

std::vector<AccessPath> used_by(const Model& model, int lambda) {
  std::vector<AccessPath> out;
  const auto add = [&](const AccessPath& path) {
    if (path.symbol >= 0 && model.symbol(path.symbol).function != lambda) out.push_back(path);
  };
  for (const int index : model.function(lambda).statements) {
    const Statement& statement = model.statement(index);
    for (const Change& change : statement.changes) add(change.path);
    for (const AccessPath& path : statement.reads) add(path);
    for (const Call& call : statement.calls) {
      add(call.receiver);
      for (const Argument& argument : call.arguments) {
        for (const AccessPath& path : argument.roots) add(path);
      }
    }
  }
  return out;
}

}  // namespace flor::probes
