// Declarations within statements.
#include <algorithm>

#include "probes/program/statements.h"

namespace flor::probes {
// A container whose elements are numbers, strings or such containers: a copy shares nothing.
bool Statements::has_plain_elements(const Declarators& declared) const {
  if (!is_container_type(declared.type) || is_view_type(declared.type)) return false;
  for (size_t i = declared.type_begin; i < declared.type_end; ++i) {
    const std::string& text = tree().text(i);
    const bool plain = !tree().word(i) || text == "std" || is_container_type(text) ||
                       is_plain_type(words_.resolved(text)) || text == "const";
    if (!plain || text == "*" || text == "&") return false;
  }
  return declared.type_end > declared.type_begin + 1 && is(declared.type_end - 1, ">");
}

Symbol Statements::symbol_of(const Declarators& declared, const Declarator& one) const {
  Symbol symbol;
  symbol.name = one.name == 0 ? "" : tree().text(one.name);
  symbol.type = words_.resolved(declared.type);
  symbol.function = function_;
  symbol.source = source_;
  symbol.token = one.name;
  const bool plain = is_plain_type(symbol.type) || has_plain_elements(declared);
  symbol.plain = !one.indirect && plain;
  symbol.reference = one.indirect;
  symbol.constant = declared.constant && plain && !one.indirect;
  symbol.lasting = declared.lasting;
  const bool known = is_probe_type(symbol.type) || words_.classes.count(last_part(declared.type)) != 0;
  symbol.guarded = is_guard_type(declared.type) || (declared.type != "auto" && !known && !one.indirect);
  symbol.dimensions = one.dimensions;
  const bool unknown = symbol.guarded && !is_guard_type(declared.type);  // perhaps an alias of an array's
  symbol.points = one.pointer || one.dimensions > 0 || unknown;
  return symbol;
}

void Statements::declare(const Declarators& declared, int into) {
  Statement made = std::move(at(into));
  const int outer = std::exchange(statement_, into);
  for (const Declarator& one : declared.list) declare_one(declared, one, made);
  statement_ = outer;
  at(into) = std::move(made);
}

// Is it a local variable that is the function which it is made from? Anything else may keep that function,
// and call it by a name of its own.
bool Statements::names_function(const Declarators& declared) const {
  return function_ > 0 && (declared.type == "auto" || declared.type == "std::function");
}

void Statements::declare_one(const Declarators& declared, const Declarator& one, Statement& into) {
  if (last_part(declared.type) == "SkipBlock") return skip_block(declared, one, into);
  Value value;
  int count = 0;  // of arguments
  for (size_t part = one.init_begin; part < one.init_end;) {
    size_t end = part;
    while (end < one.init_end && !(one.constructs && is(end, ","))) end = past(end, one.init_end);
    const Value argument = expressions_.read(tree(), part, end, into);
    if (!names_function(declared)) expressions_.hand_out({argument});
    const bool first = part == one.init_begin;
    if (first) value = argument;
    ++count;
    if (!first) {
      value.roots.insert(value.roots.end(), argument.roots.begin(), argument.roots.end());
      value.variable = value.chain = false;
    }
    part = end + 1;
  }
  Symbol symbol = symbol_of(declared, one);
  symbol.lambda = value.lambda;
  symbol.initialised = one.init_begin < one.init_end || !symbol.plain;
  // `auto n = 3`, `auto x = t.item<float>()`: nothing is shared, so nothing but itself changes it.
  if (is_volatile_name(declared.type)) into.volatile_name = declared.type;
  const int index = scopes_.declare(symbol);
  into.declares.push_back(index);
  into.changes.push_back({{index, {}}, false});
  // `auto no_grad = torch::NoGradGuard();`
  for (size_t i = one.init_begin; i < one.init_end; ++i) {
    if (tree().word(i) && is_guard_type(tree().text(i)) && (is(i + 1, "(") || is(i + 1, "{")))
      model_.symbols[static_cast<size_t>(index)].guarded = true;
  }
  into.creates = into.creates || symbol.guarded;
  construct(declared, one, index, into);
  if (keeps_by_members(declared, one, value, count)) value.roots.clear();
  value.deep = value.deep || keeps_references(declared, one);
  bind(declared, one, index, value);
}

// Over one token, brackets and template arguments as a whole.
size_t Statements::past(size_t token, size_t end) const {
  const size_t behind =
      tree().word(token) && is(token + 1, "<") ? behind_template(tree(), token + 1, end) : token + 1;
  if (behind != token + 1 && (is(behind, "(") || is(behind, "{") || is(behind, "::"))) return behind;
  return tree().skip(token);
}

// Is it made by a constructor of the program, whose text says what is kept of the arguments? A copy is not.
bool Statements::keeps_by_members(const Declarators& declared, const Declarator& one, const Value& value,
                                  int count) const {
  const std::string type = last_part(declared.type);
  if (!one.constructs || one.indirect || words_.classes.count(type) == 0) return false;
  const bool told = words_.functions.count(type) != 0 || words_.functions.count(type + "Impl") != 0;
  if (!told || count > 1) return told;
  return std::all_of(value.roots.begin(), value.roots.end(), [&](const AccessPath& root) {
    const std::string& from = model_.symbol(root.symbol).type;
    return root.fields.empty() && !from.empty() && from != "auto" && from != "several" &&
           words_.classes.count(last_part(from)) == 0;
  });
}

// Does an object of this type, which has no constructor in the text, keep references to what it is made from?
bool Statements::keeps_references(const Declarators& declared, const Declarator& one) const {
  if (one.indirect || one.init_begin >= one.init_end) return false;
  if (is_view_type(declared.type) || last_part(declared.type) == "reference_wrapper") return true;
  return words_.keeping.count(last_part(declared.type)) != 0;
}

// What the new variable shares with its initializer.
void Statements::bind(const Declarators& declared, const Declarator& one, int symbol, const Value& value) {
  Symbol& made = model_.symbols[static_cast<size_t>(symbol)];
  const bool exact = value.variable && value.roots.size() == 1 && !value.cut;
  if (one.indirect && !one.pointer && exact && !declared.range && !declared.binding && made.function >= 0) {
    expressions_.alias(symbol, value.roots[0]);
  }
  const bool tensor = declared.type == "auto" || last_part(declared.type) == "Tensor";
  made.view =
      value.chain && !value.roots.empty() && (one.indirect || tensor) && (!one.constructs || one.indirect);
  if (made.view) made.views = value.roots;
  made.points = made.points || value.points;
  expressions_.share(symbol, value);
}

// A class of the program: its constructor runs.
void Statements::construct(const Declarators& declared, const Declarator& one, int symbol, Statement& into) {
  const std::string type = last_part(declared.type);
  if (one.indirect || words_.classes.count(type) == 0) return;
  for (const std::string& name : {type, type + "Impl"}) {
    if (words_.functions.count(name) == 0) continue;
    Call call;
    call.name = model_.name(name);
    call.method = true;
    call.receiver = {symbol, {}};
    Statement unused;
    for (size_t part = one.init_begin; one.constructs && part < one.init_end;) {
      size_t end = part;
      while (end < one.init_end && !is(end, ",")) end = past(end, one.init_end);
      unused.reads.clear();
      const Value value = expressions_.read(tree(), part, end, unused);
      Argument argument;
      argument.roots = value.roots;
      argument.reads = unused.reads;
      argument.reads.insert(argument.reads.end(), value.roots.begin(), value.roots.end());
      argument.is_variable = value.variable;
      call.arguments.push_back(std::move(argument));
      expressions_.hand_out({value});
      part = end + 1;
    }
    into.calls.push_back(std::move(call));
  }
  // Without a constructor that keeps what it is given, only the object itself leads its destructor there.
  if (words_.functions.count("~" + type) == 0 || words_.functions.count(type) != 0) return;
  Call end;
  end.name = model_.name("~" + type);
  end.method = true;
  end.receiver = {symbol, {}};
  into.calls.push_back(std::move(end));
}

void Statements::skip_block(const Declarators& declared, const Declarator& one, Statement& into) {
  Statement unused;
  Symbol symbol = symbol_of(declared, one);
  symbol.plain = symbol.constant = true;  // whether it is stepped into is the replay's business
  symbol.guarded = false;
  scopes_.declare(symbol);
  const std::vector<AccessPath> held = expressions_.held(tree(), one.init_begin, one.init_end, unused);
  for (size_t i = 0; i < tree().nodes.size(); ++i) {
    const Node& node = tree().node(static_cast<int>(i));
    if (node.block.empty() || node.args_begin <= one.init_begin || node.args_end != one.init_end) continue;
    Block block;
    block.name = node.block;
    block.source = source_;
    block.node = static_cast<int>(i);
    block.function = function_;
    block.begin = std::max(node.begin, node.args_end);
    block.end = node.end;
    block.held = held;
    block.line = tree().tokens[one.name].line;
    model_.blocks.push_back(std::move(block));
  }
  into.reads.insert(into.reads.end(), unused.reads.begin(), unused.reads.end());
}

// Members of unions. Those of two unions that share a name are all one.
void Statements::read_unions() {
  std::unordered_map<std::string, std::string> names;
  for (const Source& source : model_.program->sources) {
    const Tree& tree = source.tree;
    for (const Node& node : tree.nodes) {
      if (node.kind != NodeKind::kClass) continue;
      bool is_union = false;
      for (size_t i = node.begin; i < node.head_end; ++i) is_union = is_union || tree.is(i, "union");
      std::string first;
      for (size_t child = 0; is_union && child < node.children.size(); ++child) {
        const Node& leaf = tree.node(node.children[child]);
        const Declarators declared = declarators(tree, leaf.begin, leaf.end);
        for (const Declarator& one : declared.list) {
          const auto known = names.find(tree.text(one.name));
          const std::string next = known == names.end() ? tree.text(one.name) : known->second;
          if (first.empty()) first = next;
          names[tree.text(one.name)] = first;
          for (auto& [name, stands_for] : names) {
            if (stands_for == next) stands_for = first;
          }
        }
      }
    }
  }
  scopes_.set_unions(std::move(names));
}

// The types of members and globals, which methods may use in front of their declarations.
void Statements::read_types(int source) {
  source_ = source;
  tree_ = &model_.program->sources[static_cast<size_t>(source)].tree;
  if (!tree_->error.empty()) return;
  for (const Node& node : tree_->nodes) {
    if (node.kind != NodeKind::kLeaf || node.parent < 0) continue;
    const NodeKind around = tree_->node(node.parent).kind;
    if (around != NodeKind::kRoot && around != NodeKind::kNamespace && around != NodeKind::kClass) continue;
    size_t begin = node.begin;  // behind `private:`
    while (begin + 1 < node.end && is(begin + 1, ":")) begin += 2;
    const Declarators declared = declarators(*tree_, begin, node.end);
    for (const Declarator& one : declared.list) {
      Symbol symbol = symbol_of(declared, one);
      symbol.function = symbol.source = -1;
      if (one.constructs && is(one.init_begin - 1, "(") && around != NodeKind::kClass &&
          words_.functions.count(symbol.name) != 0) {
        continue;  // a function's declaration
      }
      scopes_.declare(symbol);
      if (around != NodeKind::kClass) continue;
      const int name = model_.name(scopes_.one_name(symbol.name));
      const bool first = model_.members.insert(name).second;
      if (first && declared.lasting) model_.statics.insert(name);
      if (!declared.lasting) model_.statics.erase(name);
    }
  }
}

namespace {

// Which functions each call may run.
void find_callees(const Vocabulary& words, Model& model) {
  std::map<int, std::set<int>> families;
  const auto find = [&](Call& call) {
    if (call.lambda >= 0) {
      call.callees = {call.lambda};
      return;
    }
    const auto all = model.by_name.find(call.name);
    if (all == model.by_name.end()) return;
    if (call.type < 0) {
      call.callees = all->second;
      return;
    }
    const auto [family, fresh] = families.emplace(call.type, std::set<int>{});
    if (fresh) {
      for (const std::string& name : words.family(model.text(call.type)))
        family->second.insert(model.name(name));
    }
    for (const int callee : all->second) {
      const Function& function = model.function(callee);
      const bool unknown = function.owner < 0 && function.method;
      if (unknown || family->second.count(function.owner) != 0) call.callees.push_back(callee);
    }
  };
  for (Statement& statement : model.statements) {
    for (Call& call : statement.calls) find(call);
  }
  for (Result& result : model.results) find(result.call);
}

}  // namespace

Model build_model(const Program& program) {
  Model model;
  model.program = &program;
  model.functions.emplace_back();  // outside of all functions
  model.name("(*)");
  const Vocabulary words = vocabulary_of(program);
  Statements statements(model, words);
  statements.read_unions();
  // What is registered, and the types of what is no local variable, is known only when all is read once.
  for (const Source& source : program.sources) {
    const Tree& tree = source.tree;
    for (size_t i = 0; i + 2 < tree.tokens.size(); ++i) {
      const std::string& text = tree.text(i);
      if (!tree.is(i + 1, "(") || !begins_with(text, "register_") || text == "register_hook") continue;
      if (i >= 2 && (tree.is(i - 1, "=") || tree.is(i - 1, "(") || tree.is(i - 1, "{")) && tree.word(i - 2))
        model.registered.insert(model.name(tree.text(i - 2)));
      for (size_t k = i + 2; k < tree.match[i + 1]; k = tree.skip(k)) {
        if (tree.is(k, ",") && tree.word(k + 1)) model.registered.insert(model.name(tree.text(k + 1)));
      }
    }
  }
  for (size_t i = 0; i < program.sources.size(); ++i) statements.read_types(static_cast<int>(i));
  for (size_t i = 0; i < program.sources.size(); ++i) statements.read_source(static_cast<int>(i));
  find_callees(words, model);
  for (const int name : model.handed_out) {
    for (const int function : model.by_name[name])
      model.functions[static_cast<size_t>(function)].escapes = true;
  }
  for (const Function& function : model.functions) {
    if (function.name < 0 || model.text(function.name) != "flor_state") continue;
    for (const int index : function.statements) {
      for (const AccessPath& path : model.statement(index).reads)
        model.hooked.insert(path.fields.begin(), path.fields.end());
    }
  }
  return model;
}

}  // namespace flor::probes
