// Finds members that always refer to the same variable: references that the only constructor of a class binds
// to a parameter, if every object of the class is created with that variable.
#include <algorithm>
#include <optional>
#include <set>

#include "probes/cxx/declarators.h"
#include "probes/flow/flow.h"
#include "probes/program/vocabulary.h"

namespace flor::probes {
namespace {

struct Member {
  const Tree* tree = nullptr;
  const Node* owner = nullptr;  // the class
};

// Returns the class that declares the name as a reference. Nothing if anything else outside functions has the
// name, too.
std::optional<Member> reference_member(const Program& program, const std::string& name) {
  std::optional<Member> out;
  for (const Source& source : program.sources) {
    const Tree& tree = source.tree;
    for (const Node& node : tree.nodes) {
      if (node.kind != NodeKind::kLeaf || node.parent < 0) continue;
      const Node& around = tree.node(node.parent);
      if (around.kind != NodeKind::kClass && around.kind != NodeKind::kRoot &&
          around.kind != NodeKind::kNamespace)
        continue;
      for (size_t i = node.begin; i < node.end; ++i) {
        if (!tree.is(i, name.c_str())) continue;
        const bool reference = around.kind == NodeKind::kClass && i + 2 == node.end && tree.is(i - 1, "&");
        if (out || !reference) return std::nullopt;
        out = Member{&tree, &around};
      }
    }
  }
  return out;
}

// Returns how often the program names the class where it may create an object: outside the class itself, and
// not in references or pointers to it.
size_t mentions_of(const Program& program, const Member& member, const std::string& name) {
  size_t out = 0;
  for (const Source& source : program.sources) {
    const Tree& tree = source.tree;
    for (size_t i = 0; i < tree.tokens.size(); ++i) {
      if (tree.tokens[i].kind == TokenKind::kDirective) {
        for (const Token& inner : directive_tokens(tree.tokens[i], tree.texts))
          out += inner.text == name ? 1000 : 0;
      }
      const bool inside = &tree == member.tree && member.owner->begin <= i && i < member.owner->end;
      if (!inside && tree.is(i, name.c_str()) && !tree.is(i + 1, "&") && !tree.is(i + 1, "*")) ++out;
    }
    // Within the class only its constructor may name it.
    if (&tree != member.tree) continue;
    size_t within = 0;
    for (size_t i = member.owner->begin; i < member.owner->end; ++i)
      within += tree.is(i, name.c_str()) && !tree.is(i + 1, "&") && !tree.is(i + 1, "*") ? 1 : 0;
    if (within != 2) return 1000;
  }
  return out;
}

// May a type that no text names here be made: the one of a variable, or of a template's parameter?
bool makes_unnamed_types(const Program& program) {
  if (program.words.count("decltype") + program.words.count("typeof") + program.words.count("__typeof__") !=
      0)
    return true;
  for (const Source& source : program.sources) {
    const Tree& tree = source.tree;
    std::set<std::string> parameters;  // of templates
    for (size_t i = 1; i + 1 < tree.tokens.size(); ++i) {
      const bool begins = tree.is(i - 1, "<") || tree.is(i - 1, ",");
      if (begins && (tree.is(i, "typename") || tree.is(i, "class"))) parameters.insert(tree.text(i + 1));
      const bool makes =
          tree.is(i + 1, "(") || tree.is(i + 1, "{") || tree.word(i + 1) || tree.is(i + 1, ">");
      if (makes && tree.word(i) && !begins && parameters.count(tree.text(i)) != 0 &&
          !tree.is(i - 1, "class") && !tree.is(i - 1, "typename"))
        return true;
    }
  }
  return false;
}

// The parameter that the constructor binds the member to, −1: none.
int bound_parameter(const Model& model, const Function& constructor, const std::string& member) {
  const Tree& tree = model.program->sources[static_cast<size_t>(constructor.source)].tree;
  const Node& node = tree.node(constructor.node);
  for (size_t i = node.begin; i + 3 < node.head_end; ++i) {
    const bool binds = tree.is(i, member.c_str()) && (tree.is(i + 1, "(") || tree.is(i + 1, "{")) &&
                       tree.match[i + 1] == i + 3;
    if (!binds) continue;
    for (const int parameter : constructor.parameters) {
      const Symbol& symbol = model.symbol(parameter);
      if (symbol.name == tree.text(i + 2) && symbol.reference) return symbol.parameter;
    }
  }
  return -1;
}

}  // namespace

// Returns the variable that the member always refers to. −1: unknown.
int Flow::bound_to(int member) const {
  const Symbol& symbol = model_.symbol(member);
  if (symbol.function >= 0 || !symbol.reference) return -1;
  const auto found = reference_member(*model_.program, symbol.name);
  if (!found || makes_unnamed_types(*model_.program)) return -1;
  const std::string owner = class_name(*found->tree, *found->owner);
  const auto all = model_.by_name.find(model_.find(owner));
  if (owner.empty() || all == model_.by_name.end() || all->second.size() != 1) return -1;
  const int constructor = all->second[0];
  const Function& function = model_.function(constructor);
  if (function.owner != function.name || function.node < 0) return -1;
  const int position = bound_parameter(model_, function, symbol.name);
  const auto& sites = callers_of(constructor);
  if (position < 0 || mentions_of(*model_.program, *found, owner) != sites.size()) return -1;
  int variable = -1;
  for (const Site& site : sites) {
    if (static_cast<size_t>(position) >= site.call->arguments.size()) return -1;
    const Argument& argument = site.call->arguments[static_cast<size_t>(position)];
    // Each names the class by itself, so that none is left uncounted.
    const Statement& at = model_.statement(site.statement);
    const Tree& tree = model_.program->sources[static_cast<size_t>(at.source)].tree;
    if (!tree.is(at.begin, owner.c_str()) && !tree.is(at.begin + 1, owner.c_str())) return -1;
    const bool whole = argument.is_variable && argument.roots.size() == 1 && argument.roots[0].fields.empty();
    const int object = site.call->receiver.symbol;
    if (!whole || object < 0 || model_.symbol(object).lasting || model_.symbol(object).function < 0)
      return -1;
    const Symbol& given = model_.symbol(argument.roots[0].symbol);
    if (given.function < 0 || given.reference || given.lasting) return -1;
    if (given.function != model_.symbol(object).function) return -1;
    if (variable >= 0 && variable != argument.roots[0].symbol) return -1;
    variable = argument.roots[0].symbol;
  }
  return variable;
}

void Flow::find_held() {
  for (size_t i = 0; i < model_.symbols.size(); ++i) {
    const int variable = member_names_[i] < 0 ? -1 : bound_to(static_cast<int>(i));
    if (variable >= 0) bound_[static_cast<int>(i)] = variable;
  }
  held_.resize(model_.blocks.size());
  for (size_t b = 0; b < held_.size(); ++b) {
    const Block& block = model_.blocks[b];
    held_[b] = block.held;
    for (const AccessPath& path : block.held) {
      const AccessPath other = bound(path);
      if (model_.function(block.function).method && other.symbol != path.symbol) held_[b].push_back(other);
    }
  }
}

// Replaces a member that always refers to one variable by that variable.
AccessPath Flow::bound(const AccessPath& path) const {
  const auto at = bound_.find(path.symbol);
  return at == bound_.end() ? path : AccessPath{at->second, path.fields};
}

}  // namespace flor::probes
