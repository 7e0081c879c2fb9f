// Names in expressions: variables, members, keywords, casts.
#include <algorithm>

#include "probes/cxx/declarators.h"
#include "probes/program/expressions.h"

namespace flor::probes {

// Words of the language; nothing where the word is a name.
std::optional<Value> Expressions::keyword(size_t& at, size_t end, bool target) {
  const std::string& word = tree_->text(at);
  if (word == "this") {
    ++at;
    Value value;
    if (is(at, "->") && tree_->word(at + 1)) {
      ++at;
      return named(at, end, target);
    }
    value.roots = {{scopes_.nonlocal("this")}};
    return value;
  }
  if (!is_keyword(word)) return std::nullopt;
  if (word.size() > 5 && word.compare(word.size() - 5, 5, "_cast") == 0) return cast(at, end);
  ++at;
  if (word == "sizeof" || word == "alignof" || word == "decltype" || word == "typeid" || word == "noexcept") {
    if (is(at, "(")) at = tree_->skip(at);
    return Value{};
  }
  if (is_number_type(word)) {
    while (at < end && is_number_type(tree_->text(at))) ++at;
    if (is(at, "(") || is(at, "{")) {
      arguments(at);
      at = tree_->skip(at);
    }
  }
  return Value{};
}

Value Expressions::cast(size_t& at, size_t end) {
  const size_t behind = behind_template(*tree_, at + 1, end);
  const bool number = behind == at + 4 && is_number_type(words_.resolved(tree_->text(at + 2)));
  at = behind;
  if (!is(at, "(")) return {};
  Value value = read(*tree_, at + 1, tree_->match[at], *into_);
  at = tree_->skip(at);
  if (number) return {};
  value.deep = true;
  return value;
}

// Is the parenthesis at `open` a cast, as in `(T&)x`? What ends with a mark is no expression; what is
// followed by a name or number is none either.
bool Expressions::names_type(size_t open, size_t end) const {
  const size_t close = tree_->match[open];
  if (close <= open + 1 || close + 1 >= end) return false;
  if (is(close - 1, "&") || is(close - 1, "*") || is(close - 1, "&&")) return true;
  const bool operand = tree_->word(close + 1) && !is(close + 1, "and") && !is(close + 1, "or");
  return operand && tree_->word(close - 1);
}

// The object under another type: its members are not told apart any more.
Value Expressions::named_cast(size_t& at, size_t end, bool target) {
  const size_t close = tree_->match[at];
  // In a macro it may be a condition instead.
  if (tree_->word(close - 1)) note(read(*tree_, at + 1, close, *into_));
  at = close + 1;
  Value value = operand(at, end, target);
  value.deep = value.cut = true;
  value.variable = value.chain = false;
  return value;
}

Value Expressions::named(size_t& at, size_t end, bool target) {
  std::string qualified;
  if (is(at, "::"))
    ++at;
  else if (auto value = keyword(at, end, target))
    return *value;
  size_t last = at;
  while (at < end && tree_->word(at)) {
    last = at;
    qualified += tree_->text(at++);
    if (is(at, "<")) {
      const size_t behind = behind_template(*tree_, at, end);
      if (behind != at && (is(behind, "(") || is(behind, "{") || is(behind, "::"))) at = behind;
    }
    if (at >= end || !is(at, "::") || !tree_->word(at + 1)) break;
    qualified += "::";
    ++at;
    if (is(at, "template")) ++at;
  }
  if (last >= end) return {};
  const std::string& name = tree_->text(last);
  const auto macro = words_.macros.find(name);
  if (macro != words_.macros.end() && depth_ < kMaxDepth / 2) return use_macro(macro->second, at);
  if (at < end && (is(at, "(") || is(at, "{"))) {
    const size_t open = at;
    at = tree_->match[open] + 1;
    Value value = call(qualified, open);
    make_elements(last + 1, open, value);
    return value;
  }
  if (qualified != name && is_volatile_name(qualified)) into_->volatile_name = qualified;
  if (scopes_.find_local(name) < 0) {
    if (words_.functions.count(name) != 0) {
      // A function that is named and not called is handed out.
      model_.handed_out.insert(model_.name(name));
      into_->unknown = true;
    }
    if (is_library_object(qualified)) return {};
  }
  return variable(name);
}

Value Expressions::variable(const std::string& name) {
  const int symbol = scopes_.find(name);
  Value value;
  const auto alias = aliases_.find(symbol);
  value.roots = {alias == aliases_.end() ? AccessPath{symbol, {}} : alias->second};
  value.variable = true;
  value.lambda = model_.symbol(symbol).lambda;
  name_array(model_.symbol(symbol), &value);
  if (alias != aliases_.end()) value.deep = true;
  return value;
}

// The name of an array is a pointer to its first element: no copy of it has elements of its own.
void Expressions::name_array(const Symbol& symbol, Value* value) const {
  value->points = symbol.points;
  value->dimensions = symbol.dimensions;
  value->deep = value->deep || symbol.dimensions > 0;
}

// What an index or a `*` leads to: an element, or a row, which is an array itself.
void Expressions::to_element(Value* value) {
  value->points = value->dimensions > 1;
  value->dimensions = std::max(value->dimensions - 1, 0);
}

// `object.*member`: any member, which is changed, or any method, which is called.
Value Expressions::member_by_pointer(Value value, size_t& at, size_t end) {
  ++at;
  operand(at, end);
  value.deep = value.cut = true;
  value.variable = value.chain = false;
  value.lambda = -1;
  into_->unknown = true;
  change(value, Cause::kGuess);
  return value;
}

Value Expressions::member(Value value, size_t& at, size_t end) {
  const bool pointer = is(at, "->");
  if (is(at, ".*") || is(at, "->*")) return member_by_pointer(std::move(value), at, end);
  if (pointer) use_own("operator->", &value, {});
  ++at;
  if (is(at, "template")) ++at;
  if (at >= end || !tree_->word(at)) {
    ++at;
    return value;
  }
  const std::string name = tree_->text(at++);
  if (is(at, "<")) {
    const size_t behind = behind_template(*tree_, at, end);
    if (behind != at && is(behind, "(")) at = behind;
  }
  // `net->encode(x)`: a module that is a member
  const bool module = words_.functions.count(name) == 0 && method_of(name) == Method::kUnknown &&
                      !value.cut && model_.registered.count(model_.name(name)) != 0;
  if (at < end && is(at, "(") && !module) {
    const size_t open = at;
    at = tree_->skip(at);
    return method(std::move(value), name, open);
  }
  value.deep = value.deep || pointer;
  value.lambda = -1;
  name_array(model_.symbol(scopes_.nonlocal(name)), &value);
  if (model_.statics.count(model_.name(name)) != 0) {
    value = variable(name);
  } else if (!value.cut && value.roots.size() == 1) {
    value.roots[0].fields.push_back(model_.name(scopes_.one_name(name)));
    value.variable = true;
  } else {
    value.variable = false;
  }
  return value;
}

}  // namespace flor::probes
