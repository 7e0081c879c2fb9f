// Lambdas.
#include "probes/program/returns.h"
#include "probes/program/statements.h"

namespace flor::probes {

// The variables that a lambda captures as `n = expression` or `&n = expression`.
void Statements::captures(size_t begin, size_t end) {
  for (size_t part = begin; part < end;) {
    size_t stop = part;
    while (stop < end && !is(stop, ",")) stop = past(stop, end);
    size_t name = part;
    bool reference = false;
    for (; name < stop && (is(name, "&") || is(name, "...")); ++name) reference = reference || is(name, "&");
    if (name < stop && tree().word(name)) capture(name, stop, reference);
    part = stop + 1;
  }
}

// `n = expression`, `n{expression}` or `n(expression)`. Without an expression it is the variable of that
// name.
void Statements::capture(size_t name, size_t end, bool reference) {
  const bool brackets = is(name + 1, "{") || is(name + 1, "(");
  if (!brackets && !is(name + 1, "=")) return;
  const int made = open_statement(name, end, -1);
  Statement into = std::move(at(made));
  const size_t behind = brackets ? tree().match[name + 1] : end;
  const Value value = expressions_.read(tree(), name + 2, behind, into);
  Symbol symbol;
  symbol.name = tree().text(name);
  symbol.function = function_;
  symbol.source = source_;
  symbol.token = name;
  symbol.lasting = true;  // it lives as long as the lambda
  symbol.reference = reference;
  symbol.lambda = value.lambda;
  symbol.points = value.points;
  const int fresh = scopes_.declare(symbol);
  into.changes.push_back({{fresh, {}}, false});
  at(made) = std::move(into);
  const bool exact = value.variable && value.roots.size() == 1 && !value.cut;
  if (reference && exact) expressions_.alias(fresh, value.roots[0]);
  expressions_.share(fresh, value);
}

// [captures](parameters) … { body }
std::pair<int, size_t> Statements::lambda(const Tree& from, size_t begin) {
  const size_t captures_end = from.match[begin];
  size_t at = captures_end + 1;
  if (&from != tree_) return {-1, at};  // in a macro: its text is read with the macro's
  const size_t open = is(at, "(") ? at : 0;
  if (open != 0) at = tree().match[open] + 1;
  size_t body = at;
  const size_t limit = std::min(tree().tokens.size(), at + 60);
  while (body < limit && !is(body, "{") && !is(body, ";") && !is(body, ")")) body = tree().skip(body);
  if (body >= limit || !is(body, "{")) return {-1, at};
  Function function;
  function.name = -1;
  function.source = source_;
  function.begin = begin;
  function.end = tree().match[body] + 1;
  function.outer = function_;
  function.at = statement_;
  const size_t trailing = trailing_type(tree(), at, body);
  function.returns = returns_as(tree(), trailing, body, words_);
  const int index = static_cast<int>(model_.functions.size());
  model_.functions.push_back(function);
  const int outer_function = std::exchange(function_, index);
  const int outer_statement = std::exchange(statement_, -1);
  scopes_.open();
  captures(begin + 1, captures_end);
  if (open != 0) parameters(open, index);
  list(body + 1, tree().match[body], -1);
  scopes_.close();
  function_ = outer_function;
  statement_ = outer_statement;
  return {index, tree().match[body] + 1};
}

}  // namespace flor::probes
