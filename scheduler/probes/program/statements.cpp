#include "probes/program/statements.h"

#include <algorithm>

#include "probes/cxx/blocks.h"
#include "probes/program/returns.h"

namespace flor::probes {
void Statements::read_source(int source) {
  source_ = source;
  const Source& file = model_.program->sources[static_cast<size_t>(source)];
  tree_ = &file.tree;
  if (!tree_->error.empty()) return;
  expressions_.set_source(file.unqualified_log);
  declarations(0);
}

// What stands in a namespace or class.
void Statements::declarations(int node) {
  for (const int child : tree().node(node).children) {
    const Node& one = tree().node(child);
    function_ = 0;
    if (one.kind == NodeKind::kNamespace || one.kind == NodeKind::kClass) declarations(child);
    if (one.kind == NodeKind::kFunction) function(child);
    if (one.kind != NodeKind::kLeaf) continue;
    const size_t first = model_.statements.size();
    simple(one.begin, one.end, -1);
    const bool member = tree().node(node).kind == NodeKind::kClass;
    const bool apart = has_default(one.begin, one.end, member);
    for (size_t s = first; s < model_.statements.size(); ++s) model_.statements[s].apart = apart;
  }
}

// Is it a declaration of a function with a default argument, or of a member with an initializer?
bool Statements::has_default(size_t begin, size_t end, bool member) const {
  for (size_t i = begin; i < end; i = tree().skip(i)) {
    if (is(i, "=")) return member && !is(i + 1, "default") && !is(i + 1, "delete");
    if (is(i, "{")) return member;
    for (size_t k = i + 1; is(i, "(") && k < tree().match[i]; k = tree().skip(k)) {
      if (is(k, "=")) return true;
    }
  }
  return false;
}

void Statements::function(int node) {
  const Node& one = tree().node(node);
  const FunctionHead head = function_head(tree(), one);
  const int index = static_cast<int>(model_.functions.size());
  Function function;
  function.name = model_.name(head.name);
  function.source = source_;
  function.begin = one.begin;
  function.end = one.end;
  function.node = node;
  function.method = head.method;
  if (!head.owner.empty()) function.owner = model_.name(head.owner);
  function.implicit = head.implicit;
  function.hidden = head.method && (head.owner == head.name) && words_.made_unnamed.count(head.name) != 0;
  function.plain = head.plain;
  if (head.open != 0) function.returns = returns_of(tree(), one.begin, head.open, one.head_end, words_);
  if (one.parent >= 0 && tree().node(one.parent).kind == NodeKind::kClass) {
    const std::vector<int>& siblings = tree().node(one.parent).children;
    function.of_module = std::any_of(siblings.begin(), siblings.end(),
                                     [&](int other) { return tree().node(other).name == "forward"; });
  }
  model_.functions.push_back(function);
  model_.by_name[function.name].push_back(index);
  auto outer = scopes_.enter_function();
  const int outer_function = std::exchange(function_, index);
  scopes_.open();
  if (head.open != 0) {
    parameters(head.open, index);
    initialisers(tree().match[head.open] + 1, one.head_end);
  }
  list(one.head_end + 1, one.end > one.begin ? one.end - 1 : one.end, -1);
  scopes_.close();
  function_ = outer_function;
  scopes_.leave_function(std::move(outer));
  // Classes within the function: their methods see none of its variables.
  for (const int child : one.children) {
    if (tree().node(child).kind == NodeKind::kClass) declarations(child);
  }
}

void Statements::parameters(size_t open, int function) {
  const size_t close = tree().match[open];
  for (size_t part = open + 1; part < close;) {
    size_t end = part;
    while (end < close && !is(end, ",")) {
      const size_t behind = is(end, "<") ? behind_template(tree(), end, close) : end;
      end = behind != end ? behind : tree().skip(end);
    }
    const Declarators declared = parameter(tree(), part, end);
    part = end + 1;
    if (declared.list.empty()) continue;
    Symbol symbol = symbol_of(declared, declared.list[0]);
    if (declared.list[0].name == 0) symbol.name = "(unnamed)";
    symbol.parameter = static_cast<int>(model_.functions[static_cast<size_t>(function)].parameters.size());
    symbol.initialised = true;
    const int index = scopes_.declare(symbol);
    model_.functions[static_cast<size_t>(function)].parameters.push_back(index);
    if (declared.list[0].init_begin >= end) continue;
    const int made = open_statement(declared.list[0].init_begin, end, -1);
    expressions_.share(index, text(declared.list[0].init_begin, end, made));
  }
}

// `: a(b), c{d}` of a constructor.
void Statements::initialisers(size_t begin, size_t end) {
  size_t i = begin;
  while (i < end && !is(i, ":")) i = tree().skip(i);
  for (++i; i + 1 < end; ++i) {
    if (!tree().word(i) || !(is(i + 1, "(") || is(i + 1, "{"))) continue;
    const size_t close = tree().match[i + 1];
    const int made = open_statement(i, close, -1);
    Statement into = std::move(at(made));
    const Value value = expressions_.read(tree(), i + 2, close, into);
    expressions_.hand_out({value});
    const int field = scopes_.nonlocal(tree().text(i));
    into.changes.push_back({{field, {}}, false});
    expressions_.share(field, value);
    for (size_t k = i + 2; k < close; ++k) {
      if (begins_with(tree().text(k), "register_")) model_.registered.insert(model_.name(tree().text(i)));
    }
    at(made) = std::move(into);
    i = close;
  }
}

int Statements::open_statement(size_t begin, size_t end, int parent) {
  Statement statement;
  statement.source = source_;
  statement.begin = begin;
  statement.end = end;
  statement.function = function_;
  statement.parent = parent;
  const int index = static_cast<int>(model_.statements.size());
  model_.statements.push_back(std::move(statement));
  model_.functions[static_cast<size_t>(function_)].statements.push_back(index);
  return index;
}

void Statements::list(size_t begin, size_t end, int parent) {
  scopes_.open();
  for (size_t i = begin; i < end;) i = std::max(statement(i, end, parent), i + 1);
  scopes_.close();
}

size_t Statements::statement(size_t at, size_t end, int parent) {
  const Token& token = tree().tokens[at];
  if (token.kind == TokenKind::kDirective || token.text == ";") return at + 1;
  if (token.text == "{") {
    list(at + 1, tree().match[at], parent);
    return tree().match[at] + 1;
  }
  if (token.kind != TokenKind::kWord) return simple(at, end, parent);
  const Text word = token.text;
  if (word == "if" || word == "for" || word == "while" || word == "switch" || word == "catch")
    return control(at, end, parent);
  if (word == "do") return do_loop(at, end, parent);
  if (word == "else" || word == "try") return at + 1;
  if (word == "case" || word == "default") {
    while (at < end && !is(at, ":")) at = is(at, "::") ? at + 1 : tree().skip(at);
    return at + 1;
  }
  if (word == "return" || word == "break" || word == "continue" || word == "goto" || word == "co_return")
    return jump(at, end, parent);
  if (word == "using" || word == "typedef" || word == "static_assert" || word == "template" ||
      word == "namespace" || word == "friend") {
    return end_of(at, end);
  }
  const bool type = word == "struct" || word == "class" || word == "enum" || word == "union";
  if (type) return end_of(at, end);
  if (is(at + 1, ":") && (word == "public" || word == "private" || word == "protected")) return at + 2;
  // NAME(…) { … }: an unknown macro in front of a body.
  if (is(at + 1, "(") && is(tree().match[at + 1] + 1, "{")) {
    const size_t close = tree().match[at + 1];
    const int head = open_statement(at, close + 1, parent);
    text(at, close + 1, head);
    return statement(close + 1, end, head);
  }
  return simple(at, end, parent);
}

// Behind the `;` that ends the statement at `at`.
size_t Statements::end_of(size_t at, size_t end) const {
  while (at < end && !is(at, ";")) at = tree().skip(at);
  return std::min(at + 1, end);
}

Value Statements::text(size_t begin, size_t end, int into, bool discarded) {
  Statement made = std::move(at(into));
  const int outer = std::exchange(statement_, into);
  Value value = expressions_.read(tree(), begin, end, made, discarded);
  statement_ = outer;
  at(into) = std::move(made);
  return value;
}

size_t Statements::control(size_t at, size_t end, int parent) {
  size_t open = at + 1;
  if (is(open, "constexpr")) ++open;
  if (!is(open, "(")) return at + 1;
  const size_t close = tree().match[open];
  const bool loop = is(at, "for") || is(at, "while");
  scopes_.open();
  const int head = open_statement(at, close + 1, parent);
  if (!is(at, "catch")) this->head(open + 1, close, head, is(at, "for"));
  size_t behind = close + 1 < end ? statement(close + 1, end, head) : close + 1;
  while (!loop && behind < end && is(behind, "else")) {
    behind = behind + 1 < end ? statement(behind + 1, end, head) : behind + 1;
  }
  scopes_.close();
  return behind;
}

// `init; condition; step` or `variable : range` or a condition alone.
void Statements::head(size_t begin, size_t end, int into, bool loop) {
  int number = 0;
  for (size_t part = begin; part < end;) {
    size_t stop = part;
    while (stop < end && !is(stop, ";")) stop = tree().skip(stop);
    const Declarators declared = declarators(tree(), part, stop);
    const bool declares =
        !declared.list.empty() && (loop || declared.list[0].init_begin < declared.list[0].init_end);
    if (declares && declared.range) {
      range(declared, into);
    } else if (declares) {
      declare(declared, into);
    } else {
      text(part, stop, into, loop && number == 2);
    }
    ++number;
    part = stop + 1;
  }
}

// Is it `flor::loop(…)`, or `loop(…)`?
bool is_flor_loop(const Tree& tree, size_t begin, size_t end) {
  for (size_t i = begin; i + 1 < end; ++i) {
    if (tree.is(i, "loop") && tree.is(i + 1, "(")) return i == begin || tree.is(i - 1, "::");
  }
  return false;
}

void Statements::range(const Declarators& declared, int into) {
  const Declarator& first = declared.list[0];
  Statement made = std::move(at(into));
  Value value = expressions_.read(tree(), first.init_begin, first.init_end, made);
  const bool flor_loop = is_flor_loop(tree(), first.init_begin, first.init_end);
  const bool whole = value.variable && value.roots.size() == 1 && value.roots[0].fields.empty();
  const std::string type = whole ? model_.symbol(value.roots[0].symbol).type : "";
  // What is walked through may be changed by that: a data loader is.
  const bool still = flor_loop || value.roots.empty() || is_container_type(type) ||
                     (value.deep && value.cut && value.chain) ||
                     (whole && declared.list[0].indirect && type.empty() &&
                      model_.symbol(value.roots[0].symbol).function < 0) ||
                     (!whole && value.variable);
  if (!still) {
    Value changed = value;
    changed.deep = true;
    expressions_.change(changed, made, Cause::kMode);
  }
  for (const Declarator& one : declared.list) {
    Symbol symbol = symbol_of(declared, one);
    symbol.loop_value = flor_loop;
    symbol.initialised = true;
    const int index = scopes_.declare(symbol);
    made.declares.push_back(index);
    made.changes.push_back({{index, {}}, false});
    bind(declared, one, index, value);
    if (!flor_loop) model_.symbols[static_cast<size_t>(index)].view = true;
  }
  at(into) = std::move(made);
  if (flor_loop) mark_loop(at(into).begin, at(into).end);
}

// The loop whose head is [begin, end); its region ends where its node does.
void Statements::mark_loop(size_t begin, size_t end) {
  const Tree& tree = this->tree();
  int found = -1;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const Node& node = tree.nodes[i];
    const bool in = node.begin <= begin && end <= node.end && node.kind != NodeKind::kRoot;
    if (in && (node.kind == NodeKind::kLoop || node.kind == NodeKind::kLeaf)) found = static_cast<int>(i);
  }
  if (found < 0) return;
  model_.loops.push_back({source_, found, function_, begin, tree.node(found).end});
}

size_t Statements::do_loop(size_t at, size_t end, int parent) {
  const int head = open_statement(at, at + 1, parent);
  size_t behind = at + 1 < end ? statement(at + 1, end, head) : at + 1;
  if (behind + 1 < end && is(behind, "while") && is(behind + 1, "(")) {
    text(behind + 2, tree().match[behind + 1], head);
    behind = tree().match[behind + 1] + 1;
  }
  return behind;
}

size_t Statements::jump(size_t at, size_t end, int parent) {
  const size_t behind = end_of(at, end);
  const int made = open_statement(at, behind, parent);
  this->at(made).jumps = true;
  this->at(made).returns = is(at, "return") || is(at, "co_return");
  const Value value = text(at + 1, behind > at + 1 && is(behind - 1, ";") ? behind - 1 : behind, made);
  if (this->at(made).returns) expressions_.give_back(value, function_);
  return behind;
}

size_t Statements::simple(size_t begin, size_t end, int parent) {
  const size_t behind = end_of(begin, end);
  const int made = open_statement(begin, behind, parent);
  const Declarators declared = declarators(tree(), begin, behind);
  if (declared.list.size() > 1 && !declared.binding) {  // each variable has an initializer of its own
    for (const Declarator& one : declared.list) {
      Declarators alone = declared;
      alone.list = {one};
      declare(alone, &one == &declared.list[0] ? made : open_statement(one.name, behind, parent));
    }
  } else if (!declared.list.empty()) {
    declare(declared, made);
  } else {
    text(begin, behind > begin && is(behind - 1, ";") ? behind - 1 : behind, made, true);
  }
  guards(begin, behind, parent);
  return behind;
}

// The arguments of flor::checkpointing outside of all loops: what an iteration is entered with.
void Statements::guards(size_t begin, size_t end, int parent) {
  for (size_t i = begin; i + 1 < end; ++i) {
    if (!is(i, "checkpointing") || !is(i + 1, "(")) continue;
    bool in_loop = false;
    for (int up = parent; up >= 0; up = at(up).parent) {
      in_loop = in_loop || is(at(up).begin, "for") || is(at(up).begin, "while") || is(at(up).begin, "do");
    }
    if (in_loop) continue;
    Statement unused;
    for (const AccessPath& path : expressions_.held(tree(), i + 2, tree().match[i + 1], unused))
      model_.guarded.push_back(path);
    model_.has_guard = true;
  }
}

}  // namespace flor::probes
