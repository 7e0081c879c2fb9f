#include "probes/program/expressions.h"

#include <algorithm>
#include <array>

#include "probes/cxx/declarators.h"

namespace flor::probes {
namespace {

bool is_binary(Text text) {
  static constexpr std::array<std::string_view, 21> kOperators = {"+", "-", "*",  "/",  "%",   "<<",  ">>",
                                                                  "<", ">", "<=", ">=", "==",  "!=",  "&",
                                                                  "|", "^", "&&", "||", "<=>", "and", "or"};
  return std::any_of(kOperators.begin(), kOperators.end(), [&](std::string_view one) { return text == one; });
}

bool is_comma(Text text) {
  return text == ",";
}

void add(std::vector<AccessPath>& to, const std::vector<AccessPath>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

Value Expressions::read(const Tree& tree, size_t begin, size_t end, Statement& into, bool discarded) {
  const bool outer_update = self_update_, outer_discarded = discarded_;
  const Tree* outer_tree = std::exchange(tree_, &tree);
  Statement* outer_into = std::exchange(into_, &into);
  Value last;
  for (size_t part = begin; part < end;) {
    const size_t comma = find(part, end, is_comma);
    const auto computes = [](Text text) { return is_assignment(text) || is_binary(text) || text == "?"; };
    const bool steps = is(part, "++") || is(part, "--") || is(comma - 1, "++") || is(comma - 1, "--");
    self_update_ = discarded && steps && find(part + 1, comma, computes) == comma;
    discarded_ = discarded && find(part, comma, is_assignment) < comma;
    last = single(part, comma);
    part = comma + 1;
  }
  tree_ = outer_tree;
  into_ = outer_into;
  self_update_ = outer_update;
  discarded_ = outer_discarded;
  return last;
}

std::vector<AccessPath> Expressions::held(const Tree& tree, size_t begin, size_t end, Statement& into) {
  std::vector<AccessPath> out;
  tree_ = &tree;
  into_ = &into;
  for (size_t part = begin; part < end;) {
    const size_t comma = find(part, end, is_comma);
    size_t at = part;
    const bool pointee = is(at, "*");
    const Value value = operand(at, comma, true);
    if (at == comma && value.roots.size() == 1 && (value.variable || (pointee && !value.cut)))
      out.push_back(value.roots[0]);
    part = comma + 1;
  }
  return out;
}

// Returns the next token, with brackets and template arguments as a whole.
size_t Expressions::next(size_t at, size_t end) const {
  if (tree_->word(at) && is(at + 1, "<")) {
    const size_t behind = behind_template(*tree_, at + 1, end);
    if (behind != at + 1 && (is(behind, "(") || is(behind, "{") || is(behind, "::"))) return behind;
  }
  return tree_->skip(at);
}

template <typename Wanted>
size_t Expressions::find(size_t begin, size_t end, const Wanted& wanted) const {
  for (size_t i = begin; i < end; i = next(i, end)) {
    if (tree_->tokens[i].kind == TokenKind::kPunctuator && wanted(tree_->tokens[i].text)) return i;
  }
  return end;
}

Value Expressions::single(size_t begin, size_t end) {
  if (begin >= end || depth_ > kMaxDepth) return {};
  ++depth_;
  Value value;
  const size_t assignment = find(begin, end, is_assignment);
  if (assignment < end) {
    value = assign(begin, assignment, end);
  } else {
    const size_t question = find(begin, end, [](Text text) { return text == "?"; });
    if (question < end) {
      single(begin, question);
      int open = 1;
      const size_t colon = find(question + 1, end, [&](Text text) {
        open += text == "?" ? 1 : text == ":" ? -1 : 0;
        return open == 0;
      });
      value = single(question + 1, colon);
      const Value other = single(colon + 1, end);
      hand_out({value, other});  // no text tells which of the two it is
      value.lambda = std::max(value.lambda, other.lambda);
      add(value.roots, other.roots);
      value.variable = false;
      value.deep = true;
      value.chain = false;
    } else {
      value = binary(begin, end);
    }
  }
  --depth_;
  return value;
}

Value Expressions::assign(size_t begin, size_t operation, size_t end) {
  const bool discarded = std::exchange(discarded_, false);
  const Value from = single(operation + 1, end);
  hand_out({from});  // a function that is kept may run wherever its keeper calls it
  size_t at = begin;
  const bool whole = is(operation, "=");
  // What the statement `x += 1` reads of x is of use to x alone.
  Value target = operand(at, operation, true);
  if (at != operation) {  // no single target: everything in it
    target = binary(begin, operation);
    target.deep = true;
  }
  if (!whole && !discarded) note(target);
  if (!whole) use_operator(&target, {from});
  if (!whole) target.deep = true;  // `row += 1` changes the tensor that row is part of
  change(target);
  if (whole) {
    for (const AccessPath& root : target.roots) share(root.symbol, from);
  }
  return target;
}

bool Expressions::is_plain(const AccessPath& path) {
  if (path.fields.empty()) return model_.symbol(path.symbol).plain;
  const Symbol& member = model_.symbol(scopes_.nonlocal(model_.text(path.fields.back())));
  return !member.type.empty() && member.plain;
}

void Expressions::share(int symbol, const Value& value) {
  if (symbol < 0 || model_.symbol(symbol).plain) return;
  for (const AccessPath& root : value.roots) {
    const bool copied = is_plain(root) && !value.deep && !model_.symbol(symbol).reference;
    if (root.symbol != symbol && !copied) model_.shared.emplace_back(symbol, root.symbol);
  }
}

// What its callers may share with it: no copy of a variable. A lambda runs wherever they call it, and leads
// to whatever the lambdas of the function use.
void Expressions::give_back(const Value& value, int function) {
  Function& from = model_.functions[static_cast<size_t>(function)];
  hand_out({value});
  for (size_t i = static_cast<size_t>(function) + 1; value.lambda >= 0 && i < model_.functions.size(); ++i) {
    for (const AccessPath& path : used_by(model_, static_cast<int>(i)))
      from.results.push_back({path.symbol, {}});
  }
  if (from.returns == Returns::kCopy) return;
  for (const AccessPath& root : value.roots) {
    const bool copied = from.returns == Returns::kValue && is_plain(root) && !value.deep;
    if (!copied) from.results.push_back(root);
  }
}

void Expressions::change(const Value& value, Statement& into, Cause cause) {
  for (const AccessPath& root : value.roots) {
    const Symbol& symbol = model_.symbol(root.symbol);
    if (symbol.loop_value) continue;
    into.changes.push_back({root, value.deep || symbol.reference, cause});
  }
}

void Expressions::note(const Value& value) {
  if (words_.functions.count(kConversion) != 0) {
    Value converted = value;
    use_own(kConversion, &converted, {});
  }
  for (const AccessPath& root : value.roots) {
    // What a call yields is read where the call reads it.
    if (model_.symbol(root.symbol).name != "(result)") into_->reads.push_back(root);
  }
}

Value Expressions::binary(size_t begin, size_t end) {
  std::vector<Value> operands;
  std::vector<std::string> operators;
  for (size_t at = begin; at < end;) {
    const size_t before = at;
    if (!operands.empty() && is_binary(tree_->tokens[at].text) && operators.size() < operands.size()) {
      operators.push_back(tree_->text(at++));
      continue;
    }
    operands.push_back(operand(at, end));
    if (operators.size() + 1 < operands.size()) operators.emplace_back();
    if (at == before) ++at;
  }
  if (operands.empty()) return {};
  if (operands.size() == 1) return operands[0];
  for (size_t i = 1; i < operands.size(); ++i) use_operator(nullptr, {operands[0], operands[i]});
  Value out;
  out.chain = false;
  const auto plain = [&](const Value& value) {
    return std::all_of(value.roots.begin(), value.roots.end(),
                       [&](const AccessPath& root) { return is_plain(root); });
  };
  if ((operators[0] == "<<" || operators[0] == ">>") && !plain(operands[0])) {  // a stream
    operands[0].deep = true;
    change(operands[0]);
    for (size_t i = 1; operators[0] == ">>" && i < operands.size(); ++i) change(operands[i]);
    return operands[0];
  }
  if (operators[0] == ">>" && operands[0].roots.empty()) {  // std::cin
    for (size_t i = 1; i < operands.size(); ++i) change(operands[i]);
  }
  // A pointer and a number make a pointer.
  const bool moves = std::all_of(operators.begin(), operators.end(),
                                 [](const std::string& one) { return one == "+" || one == "-"; });
  for (const Value& value : operands) {
    out.points = out.points || (moves && value.points);
    if (moves) out.dimensions = std::max(out.dimensions, value.dimensions);
    for (const AccessPath& root : value.roots) {
      if (model_.symbol(root.symbol).reference || (moves && value.points)) out.roots.push_back(root);
    }
  }
  out.deep = true;
  return out;
}

Value Expressions::operand(size_t& at, size_t end, bool target) {
  if (at >= end || ++depth_ > kMaxDepth) {
    at = end;
    return {};
  }
  const Text text = tree_->tokens[at].text;
  Value value;
  if (text == "++" || text == "--") {
    value = operand(++at, end, self_update_);
    change(value);
  } else if (text == "*" || text == "&") {
    value = operand(++at, end, target);
    if (text == "*") use_own("operator", &value, {});
    value.deep = true;
    value.variable = false;
    to_element(&value);
    value.points = value.points || text == "&";
  } else if (text == "-" || text == "+" || text == "!" || text == "~" || text == "not") {
    operand(++at, end);
  } else if (text == "new" || text == "co_await" || text == "co_yield" || text == "throw") {
    into_->jumps = into_->jumps || text == "throw";
    value = operand(++at, end);
    value.chain = false;
  } else if (text == "delete") {
    ++at;
    if (is(at, "[")) at = tree_->skip(at);
    value = operand(at, end);
    value.deep = true;
    change(value);
  } else {
    value = postfix(primary(at, end, target), at, end, target);
  }
  --depth_;
  return value;
}

Value Expressions::primary(size_t& at, size_t end, bool target) {
  const Token& token = tree_->tokens[at];
  if (token.kind == TokenKind::kWord) return named(at, end, target);
  if (token.kind != TokenKind::kPunctuator) {
    ++at;
    return {};
  }
  if (token.text == "(") {
    const size_t close = tree_->match[at];
    const bool cast = close == at + 2 && is_number_type(tree_->text(at + 1)) && close + 1 < end &&
                      !is_binary(tree_->tokens[close + 1].text);
    if (cast) {
      at = close + 1;
      operand(at, end);
      return {};
    }
    if (names_type(at, end)) return named_cast(at, end, target);
    Value value = read(*tree_, at + 1, close, *into_);
    at = close + 1;
    return value;
  }
  if (token.text == "[") {
    const auto [function, behind] = read_lambda_(*tree_, at);
    at = std::max(behind, at + 1);
    Value value;
    value.lambda = function;
    value.chain = false;
    return value;
  }
  if (token.text == "{") {
    Value value;
    const std::vector<Value> elements = arguments(at);
    hand_out(elements);
    for (const Value& one : elements) {
      add(value.roots, one.roots);
      value.deep = value.deep || one.deep;
    }
    value.chain = false;
    at = tree_->match[at] + 1;
    return value;
  }
  if (token.text == "::") return named(at, end, target);
  ++at;
  return {};
}

Value Expressions::postfix(Value value, size_t& at, size_t end, bool target) {
  while (at < end) {
    const Text text = tree_->tokens[at].text;
    if (text == "." || text == "->" || text == ".*" || text == "->*") {
      value = member(std::move(value), at, end);
    } else if (text == "[") {
      const Value index = read(*tree_, at + 1, tree_->match[at], *into_);
      note(index);
      use_own("operator[]", &value, {index});
      insert_by_index(value);
      value.deep = true;
      value.variable = false;
      to_element(&value);
      value.cut = true;
      value.lambda = -1;
      at = tree_->skip(at);
    } else if (text == "(") {
      const std::vector<Value> given = arguments(at);
      at = tree_->skip(at);
      if (value.lambda >= 0) {
        add_call(-1, value.lambda, nullptr, given);
        value = result_of_last_call();
      } else {
        value = callable(value, given);
      }
    } else if (text == "++" || text == "--") {
      change(value);
      target = target || self_update_;
      ++at;
    } else {
      break;
    }
  }
  if (!target) note(value);
  return value;
}

std::vector<Value> Expressions::arguments(size_t open) {
  std::vector<Value> out;
  const size_t end = tree_->match[open];
  for (size_t part = open + 1; part < end;) {
    const size_t comma = find(part, end, is_comma);
    const size_t before = into_->reads.size();
    out.push_back(single(part, comma));
    note(out.back());
    out.back().reads.assign(into_->reads.begin() + static_cast<std::ptrdiff_t>(before), into_->reads.end());
    part = comma + 1;
  }
  return out;
}

}  // namespace flor::probes
