#include "probes/program/vocabulary.h"

#include <algorithm>

#include "probes/cxx/brackets.h"
#include "probes/cxx/declarators.h"
#include "probes/cxx/library.h"
#include "probes/program/number_names.h"

namespace flor::probes {
namespace {

bool inside_class(const Tree& tree, const Node& node) {
  return node.parent >= 0 && tree.node(node.parent).kind == NodeKind::kClass;
}

void add_macro(const Tree& tree, const Token& directive, Vocabulary* words) {
  const std::vector<Token> tokens = directive_tokens(directive, tree.texts);
  if (tokens.size() < 2 || tokens[0].text != "define") return;
  const std::string& name = tokens[1].text;
  Macro macro;
  size_t body = 2;
  // `#define F(x)` has no blank in front of its parenthesis.
  const std::string& line = directive.text;
  const size_t at = line.find(name);
  const bool function = at != std::string::npos && line.compare(at + name.size(), 1, "(") == 0;
  if (function) {
    while (body < tokens.size() && tokens[body].text != ")") {
      if (tokens[body].kind == TokenKind::kWord) macro.parameters.insert(tokens[body].text.str());
      ++body;
    }
    ++body;
  }
  if (body >= tokens.size()) return;
  macro.tree.texts = tree.texts;
  macro.tree.tokens.assign(tokens.begin() + static_cast<std::ptrdiff_t>(body), tokens.end());
  check_brackets(&macro.tree);
  if (!macro.tree.error.empty()) return;
  words->macros.emplace(name, std::move(macro));
}

// Those that are called where no operator stands between two operands have names of their own.
std::string operator_name(const Tree& tree, size_t at) {
  if (tree.is(at, "(")) return "operator()";
  if (tree.is(at, "[")) return "operator[]";
  if (tree.is(at, "->")) return "operator->";
  const bool conversion =
      (tree.word(at) || tree.is(at, "::")) && !tree.is(at, "new") && !tree.is(at, "delete");
  return conversion ? kConversion : "operator";
}

}  // namespace

FunctionHead function_head(const Tree& tree, const Node& node) {
  FunctionHead head;
  head.name = node.name;
  for (size_t i = node.begin; i < node.head_end; i = tree.skip(i)) {
    const bool call = tree.is(i, "(") && i > node.begin;
    if (tree.is(i, "operator")) {
      size_t open = i + 1;
      head.name = operator_name(tree, open);
      head.implicit = true;
      if (tree.is(open, "(")) open = tree.skip(open);
      while (open < node.head_end && !tree.is(open, "(")) ++open;
      head.open = open;
      if (i >= node.begin + 2 && tree.is(i - 1, "::")) {
        head.method = true;
        head.owner = tree.text(i - 2);
      }
      break;
    }
    if (!call || !tree.word(i - 1) || tree.text(i - 1) != node.name) continue;
    head.open = i;
    const bool destructor = i >= 2 && tree.is(i - 2, "~");
    head.implicit = destructor;
    if (destructor) head.name = "~" + head.name;
    head.method = i >= 2 && (tree.is(i - 2, "::") || destructor);
    if (i >= node.begin + 3 && tree.is(i - 2, "::")) head.owner = tree.text(i - 3);
    break;
  }
  if (inside_class(tree, node)) {
    head.method = true;
    head.owner = class_name(tree, tree.node(node.parent));
  }
  if (head.owner == ">") head.owner.clear();
  for (const char* name : {"begin", "end", "swap", "flor_state"})
    head.implicit = head.implicit || head.name == name;
  if (head.open > node.begin + 1 && !head.implicit) {
    const Declarators result = parameter(tree, node.begin, head.open - 1);
    const bool indirect = !result.list.empty() && result.list[0].indirect;
    head.plain = !result.list.empty() && !indirect && is_plain_type(result.type);
  }
  return head;
}

std::string class_name(const Tree& tree, const Node& node) {
  for (size_t i = node.begin; i + 1 < node.head_end; ++i) {
    const bool word = tree.is(i, "struct") || tree.is(i, "class") || tree.is(i, "union");
    if (word && tree.word(i + 1)) return tree.text(i + 1);
  }
  return "";
}

namespace {

// The bases of a class, by their last names.
void add_bases(const Tree& tree, const Node& node, Vocabulary* words) {
  const std::string name = class_name(tree, node);
  std::set<std::string> parameters;  // of a template
  size_t i = node.begin;
  while (i < node.head_end && !tree.is(i, ":")) {
    const bool word = tree.is(i, "typename") || tree.is(i, "class");
    if (word && tree.word(i + 1) && tree.text(i + 1) != name) parameters.insert(tree.text(i + 1));
    ++i;
  }
  for (++i; i < node.head_end;) {
    const size_t behind = tree.is(i, "<") ? behind_template(tree, i, node.head_end) : i;
    if (behind != i) {
      i = behind;
      continue;
    }
    if (tree.word(i) && !tree.is(i + 1, "::") && !is_keyword(tree.text(i))) {
      words->bases[name].insert(tree.text(i));
      words->parents.insert(tree.text(i));
      if (parameters.count(tree.text(i)) != 0) words->any_parent = true;
    }
    ++i;
  }
}

}  // namespace

std::set<std::string> Vocabulary::family(const std::string& type) const {
  std::set<std::string> out;
  if (any_parent || classes.count(type) == 0) return out;
  std::vector<std::string> waiting{type, type + "Impl"};
  for (const std::string& name : waiting) {
    if (parents.count(name) != 0) return out;
  }
  while (!waiting.empty()) {
    const std::string name = waiting.back();
    waiting.pop_back();
    if (!out.insert(name).second) continue;
    const auto more = bases.find(name);
    if (more != bases.end()) waiting.insert(waiting.end(), more->second.begin(), more->second.end());
  }
  return out;
}

bool Vocabulary::may_have(const std::string& type, const std::string& method) const {
  const auto at = owners.find(method);
  if (at == owners.end()) return false;
  const std::set<std::string> all = family(type);
  return all.empty() || std::any_of(at->second.begin(), at->second.end(), [&](const std::string& owner) {
           return owner.empty() || all.count(owner) != 0;
         });
}

namespace {

// Members, bases, and whatever is named between `<` and `>`.
void add_made_unnamed(const Program& program, Vocabulary* words) {
  const auto add = [words](const Tree& tree, size_t token) {
    if (words->classes.count(tree.text(token)) != 0) words->made_unnamed.insert(tree.text(token));
  };
  for (const Source& source : program.sources) {
    const Tree& tree = source.tree;
    for (const Node& node : tree.nodes) {
      const bool member = node.kind == NodeKind::kLeaf && inside_class(tree, node);
      if (!member && node.kind != NodeKind::kClass) continue;
      const size_t begin = member ? node.begin : std::min(node.begin + 2, node.head_end);
      const std::string own = class_name(tree, member ? tree.node(node.parent) : node);
      for (size_t i = begin; i < (member ? node.end : node.head_end); ++i) {
        if (tree.text(i) != own) add(tree, i);  // it declares its constructors
      }
    }
    for (size_t i = 0; i < tree.tokens.size(); ++i) {
      const size_t behind = tree.is(i, "<") ? behind_template(tree, i, tree.tokens.size()) : i;
      for (size_t k = i; k < behind; ++k) add(tree, k);
    }
  }
}

void add_keeping(const Program& program, Vocabulary* words) {
  for (size_t before = words->keeping.size() + 1; before != words->keeping.size();) {
    before = words->keeping.size();
    for (const Source& source : program.sources) {
      const Tree& tree = source.tree;
      for (const Node& node : tree.nodes) {
        if (node.kind != NodeKind::kLeaf || !inside_class(tree, node)) continue;
        bool keeps = false;
        for (size_t i = node.begin; i < node.end && !tree.is(i, "="); ++i) {
          keeps = keeps || tree.is(i, "&") || tree.is(i, "*") || is_view_type(tree.text(i)) ||
                  tree.is(i, "reference_wrapper") || words->keeping.count(tree.text(i)) != 0;
        }
        if (keeps) words->keeping.insert(class_name(tree, tree.node(node.parent)));
      }
    }
  }
}

}  // namespace

Vocabulary vocabulary_of(const Program& program) {
  Vocabulary words;
  std::map<std::string, bool> plain;
  for (const Source& source : program.sources) {
    const Tree& tree = source.tree;
    for (const Node& node : tree.nodes) {
      if (node.kind == NodeKind::kClass) {
        words.classes.insert(class_name(tree, node));
        add_bases(tree, node, &words);
      }
      if (node.kind != NodeKind::kFunction) continue;
      const FunctionHead head = function_head(tree, node);
      if (head.name.empty()) continue;
      words.functions.insert(head.name);
      if (head.method) words.owners[head.name].insert(head.owner);
      const auto known = plain.emplace(head.name, head.plain).first;
      known->second = known->second && head.plain;
    }
    for (size_t i = 0; i < tree.tokens.size(); ++i) {
      if (tree.tokens[i].kind == TokenKind::kDirective) add_macro(tree, tree.tokens[i], &words);
      const std::string& text = tree.text(i);
      const bool norm = text.size() > 8 && (text.find("BatchNorm") != std::string::npos ||
                                            text.find("InstanceNorm") != std::string::npos);
      words.has_buffers = words.has_buffers || norm;
      if (tree.is(i, "inplace")) words.in_place_modules = true;
      // TORCH_MODULE(Net) declares Net, the holder of NetImpl.
      if (tree.is(i, "TORCH_MODULE") && tree.is(i + 1, "(")) words.classes.insert(tree.text(i + 2));
    }
  }
  words.numbers = number_names(program);
  words.classes.erase("");
  add_made_unnamed(program, &words);
  add_keeping(program, &words);
  for (const auto& [name, all] : plain) {
    if (all) words.plain_functions.insert(name);
  }
  return words;
}

}  // namespace flor::probes
