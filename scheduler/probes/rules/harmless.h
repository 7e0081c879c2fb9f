// Recognises statements that can be added or removed without changing what the rest of the program computes.
//
// Judges by form: a table of calls that change state, and a small grammar. All other statements count as
// harmful.
#pragma once

#include <map>
#include <set>
#include <string>

#include "probes/cxx/declaration.h"
#include "probes/cxx/tree.h"

namespace flor::probes {

// What may be done to a variable that a harmless statement declared.
enum class NameKind {
  // Only reads: it may be the storage of another variable.
  kReference,
  // `=` too: rebinds a tensor handle, changes a copy.
  kValue,
  // All assignments.
  kNumber
};
using Scope = std::map<std::string, NameKind>;

struct HarmlessRules {
  // Names that declared variables must not have. Null: any name may be taken.
  const std::set<std::string>* taken = nullptr;
  // Functions of the program that change state.
  const std::set<std::string>* mutators = nullptr;
  // Allows flor::log.
  bool logs = true;
  // Allows log(...), too.
  bool unqualified_log = false;
  // Allows return, break and no-grad guards.
  bool in_function = false;
};

// Accepts log statements; declarations of numbers, strings, tensors, containers and autos; assignments to
// variables declared before (in `scope`); if, else, for, while and braces around these; in functions also
// `return` and similar. A log or expression is harmless if it contains only recognised calls, and no
// assignment or lambda.
class Harmless {
 public:
  Harmless(const Tree& tree, const HarmlessRules& rules) : tree_(tree), rules_(rules) {}

  bool statement(int node, Scope* scope) const { return statement(node, scope, 0); }
  // Returns whether the node defines a function whose statements are all harmless to everything but its own
  // variables.
  [[nodiscard]] bool function(int node) const;

 private:
  bool statement(int node, Scope* scope, int depth) const;
  bool simple(size_t begin, size_t end, Scope* scope, int depth) const;
  bool assignment(size_t begin, size_t end, const Scope& scope) const;
  bool declare(const Declaration& declared, Scope* scope, int depth) const;
  bool for_head(size_t begin, size_t end, Scope* scope) const;
  // Reads `if (...)`, `for (...)`, … from *at on. Returns false if one is not harmless.
  bool controls(size_t* at, size_t end, Scope* scope) const;
  [[nodiscard]] bool pure(size_t begin, size_t end) const;
  [[nodiscard]] bool pure_word(size_t at) const;

  const Tree& tree_;
  HarmlessRules rules_;
};

}  // namespace flor::probes
