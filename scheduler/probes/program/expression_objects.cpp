// Objects that are called, operators of the program, macros.
#include <algorithm>

#include "probes/program/expressions.h"

namespace flor::probes {

// An operator of the program, where an operand's type is a class of it.
void Expressions::use_operator(const Value* object, const std::vector<Value>& operands) {
  if (words_.functions.count("operator") == 0) return;
  const bool own = std::any_of(operands.begin(), operands.end(), [&](const Value& one) {
    return std::any_of(one.roots.begin(), one.roots.end(), [&](const AccessPath& root) {
      return root.fields.empty() && words_.classes.count(last_part(model_.symbol(root.symbol).type)) != 0;
    });
  });
  const bool own_object = object != nullptr && !object->roots.empty() && object->roots[0].fields.empty() &&
                          words_.classes.count(last_part(model_.symbol(object->roots[0].symbol).type)) != 0;
  if (own || own_object) add_call(model_.name("operator"), -1, object, operands);
}

// `object[i]`, `*object`, `object->`, and conversions, where a class of the program says what they do. What
// they return is no part of the object then.
void Expressions::use_own(const char* name, Value* object, const std::vector<Value>& arguments) {
  if (words_.functions.count(name) == 0) return;
  const std::string type = type_of(*object);
  if (words_.classes.count(type) == 0 || !words_.may_have(type, name)) return;
  add_call(model_.name(name), -1, object, arguments);
  const Value result = result_of_last_call();
  object->roots.insert(object->roots.end(), result.roots.begin(), result.roots.end());
  object->cut = true;
}

// An object without a name: its constructor runs, and, where that is unknown, keeps what it is given; so its
// destructor may change it.
void Expressions::make_object(const std::string& type, const std::vector<Value>& arguments) {
  Symbol symbol;
  symbol.name = "(object)";
  symbol.function = into_->function;
  symbol.source = into_->source;
  symbol.token = into_->begin;
  Value object;
  object.roots = {{static_cast<int>(model_.symbols.size()), {}}};
  model_.symbols.push_back(std::move(symbol));
  Value all = together(arguments);
  share(object.roots[0].symbol, all);
  for (const std::string& name : {type, type + "Impl", "~" + type}) {
    if (words_.functions.count(name) != 0)
      add_call(model_.name(name), -1, &object, name[0] == '~' ? std::vector<Value>{} : arguments);
  }
}

// `make_unique<T>(…)`: which argument becomes which parameter of T is not followed.
void Expressions::make_elements(size_t begin, size_t end, const Value& from) {
  constexpr size_t kMaxParameters = 8;
  for (size_t i = begin; i < end; ++i) {
    const std::string& type = tree_->text(i);
    if (words_.classes.count(type) != 0 && words_.functions.count("~" + type) != 0)
      make_object(type, std::vector<Value>(kMaxParameters, from));
  }
}

// A map gets an element where an index finds none. What is no known type may be a map, if the program has
// any.
void Expressions::insert_by_index(const Value& object) {
  const WordSet& all = model_.program->words;
  if (object.roots.empty() || all.count("map") + all.count("unordered_map") == 0) return;
  const AccessPath& path = object.roots[0];
  const int symbol = path.fields.empty() ? path.symbol : scopes_.nonlocal(model_.text(path.fields.back()));
  const std::string& type = model_.symbol(symbol).type;
  const std::string name = last_part(type);
  const bool map = name == "map" || name == "unordered_map";
  const bool element = object.cut && is_container_type(type) && !model_.symbol(symbol).plain;
  const bool alias = !type.empty() && type != "auto" && type != "several" && !is_plain_type(type) &&
                     !is_probe_type(type) && type.find("::") == std::string::npos &&
                     words_.classes.count(name) == 0;
  if (!(map || element || alias)) return;
  Value changed = object;
  changed.deep = true;
  change(changed, Cause::kGuess);
}

// Changes a part of a module that has no name of its own.
void Expressions::change_part(Value module, const char* part, Cause cause) {
  for (AccessPath& root : module.roots) {
    if (!module.cut) root.fields.push_back(model_.name(part));
  }
  change(module, cause);
}

// `optimizer.step()`, or anything else of that name that is no method of the program.
Value Expressions::optimizer_step(Value optimizer, const std::vector<Value>& arguments) {
  Value gradients;
  gradients.roots = {{scopes_.nonlocal("(gradients)"), {}}};
  note(gradients);
  const size_t before = into_->changes.size();
  change(optimizer);
  for (size_t i = before; i < into_->changes.size(); ++i) into_->changes[i].steps = true;
  run_here(arguments);
  optimizer.variable = optimizer.chain = false;
  optimizer.cut = true;
  optimizer.lambda = -1;
  return optimizer;
}

// `net(x)`: a module, or anything else with a call operator.
Value Expressions::callable(const Value& object, const std::vector<Value>& arguments) {
  Value changed = object;
  changed.deep = true;
  const bool whole = object.roots.size() == 1;
  const std::string type =
      whole && object.roots[0].fields.empty() ? model_.symbol(object.roots[0].symbol).type : "";
  const std::string field = whole && !object.roots[0].fields.empty()
                                ? model_.text(object.roots[0].fields.back())
                            : whole ? model_.symbol(object.roots[0].symbol).name
                                    : "";
  const bool own = words_.classes.count(last_part(type)) != 0;
  const bool registered =
      whole && model_.find(field) >= 0 && model_.registered.count(model_.find(field)) != 0;
  const bool module = registered || begins_with(type, "torch::nn") || begins_with(type, "nn::");
  bool calls = false;
  for (const char* name : {"operator()", "forward"}) {
    if ((module && !own) || words_.functions.count(name) == 0 || !words_.may_have(type_of(object), name))
      continue;
    add_call(model_.name(name), -1, &object, arguments);
    calls = true;
  }
  Value out = object;
  out.variable = false;
  out.chain = false;
  out.deep = true;
  if (own && calls) return words_.functions.count("forward") != 0 ? result_of_last_call() : out;
  if (module) {
    if (words_.has_buffers) change_part(changed, "(buffers)", Cause::kMode);
  } else {
    change(changed, Cause::kMode);
  }
  if (!module || words_.in_place_modules) unknown(arguments);
  if (module) return {};
  return out;
}

// The macro's text, read where it stands; what it does to its arguments is not followed.
Value Expressions::use_macro(const Macro& macro, size_t& at) {
  const Tree* outer = tree_;
  Value given;
  if (is(at, "(")) {
    const std::vector<Value> all = arguments(at);
    at = tree_->skip(at);
    given = together(all);
    const bool may_change =
        std::any_of(macro.tree.tokens.begin(), macro.tree.tokens.end(), [](const Token& token) {
          return is_assignment(token.text) || token.text == "++" || token.text == "--" || token.text == "(";
        });
    if (may_change && !macro.parameters.empty()) change(given);
  }
  tree_ = &macro.tree;
  depth_ += kMaxMacroDepth;
  const size_t end = macro.tree.tokens.size();
  for (size_t part = 0; part < end;) {
    size_t stop = part;
    while (stop < end && !is(stop, ";") && !is(stop, "{") && !is(stop, "}")) {
      stop = is(stop, "(") || is(stop, "[") ? tree_->skip(stop) : stop + 1;
    }
    size_t begin = part;
    bool returns = false;
    while (begin < stop && (is(begin, "if") || is(begin, "while") || is(begin, "for") || is(begin, "else") ||
                            is(begin, "do") || is(begin, "return"))) {
      returns = returns || is(begin, "return");
      ++begin;
    }
    Value last = single(begin, stop);
    if (returns) give_back(together({last, given}), into_->function);
    given.roots.insert(given.roots.end(), last.roots.begin(), last.roots.end());
    part = stop + 1;
  }
  depth_ -= kMaxMacroDepth;
  tree_ = outer;
  given.chain = false;
  given.deep = true;
  return given;
}

}  // namespace flor::probes
