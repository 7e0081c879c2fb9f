// Statements that can be added to a program, or taken from it, without changing what the rest of it computes.
//
// A judgement by form: a table of calls that change state, and a small grammar. What is outside of it is not
// harmless.
#pragma once

#include <map>
#include <set>
#include <string>

#include "probes/cxx/declaration.h"
#include "probes/cxx/tree.h"

namespace flor::probes {

// What may be done to a variable that a harmless statement declared.
enum class NameKind {
  kReference,  // reads only: it may be another's storage
  kValue,      // `=`: rebinds a tensor handle, changes a copy
  kNumber      // all assignments
};
using Scope = std::map<std::string, NameKind>;

struct HarmlessRules {
  const std::set<std::string>* taken = nullptr;     // names that declared variables must not have; null: any
  const std::set<std::string>* mutators = nullptr;  // functions of the program that change state
  bool logs = true;                                 // flor::log is allowed
  bool unqualified_log = false;                     // … as log(...), too
  bool in_function = false;                         // return, break and no-grad guards are allowed
};

// Knows log statements; declarations of numbers, strings, tensors, containers and autos; assignments to
// variables declared before (in `scope`); if, else, for, while and braces around these; and in functions
// `return` and its like. Logs and expressions are harmless where no recognised call, assignment or lambda is
// in them.
class Harmless {
 public:
  Harmless(const Tree& tree, const HarmlessRules& rules) : tree_(tree), rules_(rules) {}

  bool statement(int node, Scope* scope) const { return statement(node, scope, 0); }
  // A function definition all of whose statements are harmless to everything but its own variables.
  [[nodiscard]] bool function(int node) const;

 private:
  bool statement(int node, Scope* scope, int depth) const;
  bool simple(size_t begin, size_t end, Scope* scope, int depth) const;
  bool assignment(size_t begin, size_t end, const Scope& scope) const;
  bool declare(const Declaration& declared, Scope* scope, int depth) const;
  bool for_head(size_t begin, size_t end, Scope* scope) const;
  // Reads `if (...)`, `for (...)`, … from *at on; false where one is not harmless.
  bool controls(size_t* at, size_t end, Scope* scope) const;
  [[nodiscard]] bool pure(size_t begin, size_t end) const;
  [[nodiscard]] bool pure_word(size_t at) const;

  const Tree& tree_;
  HarmlessRules rules_;
};

}  // namespace flor::probes
