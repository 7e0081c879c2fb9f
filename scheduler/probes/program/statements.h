// Reads the bodies of the functions of a program into a model.
#pragma once

#include "probes/cxx/declarators.h"
#include "probes/program/expressions.h"
#include "probes/program/vocabulary.h"

namespace flor::probes {

class Statements {
 public:
  Statements(Model& model, const Vocabulary& words)
      : model_(model),
        words_(words),
        scopes_(model),
        expressions_(model, scopes_, words,
                     [this](const Tree& tree, size_t begin) { return lambda(tree, begin); }) {}

  // Call read_unions() once, then read_types() for every source, then read_source() for every source.
  void read_unions();
  void read_types(int source);
  void read_source(int source);

 private:
  void declarations(int node);
  void function(int node);
  [[nodiscard]] bool has_default(size_t begin, size_t end, bool member) const;
  void parameters(size_t open, int function);
  void initialisers(size_t begin, size_t end);
  void list(size_t begin, size_t end, int parent);
  size_t statement(size_t at, size_t end, int parent);
  size_t control(size_t at, size_t end, int parent);
  size_t do_loop(size_t at, size_t end, int parent);
  size_t jump(size_t at, size_t end, int parent);
  size_t simple(size_t at, size_t end, int parent);
  void head(size_t begin, size_t end, int into, bool loop);
  void range(const Declarators& declared, int into);
  Value text(size_t begin, size_t end, int into, bool discarded = false);
  void declare(const Declarators& declared, int into);
  [[nodiscard]] bool names_function(const Declarators& declared) const;
  void declare_one(const Declarators& declared, const Declarator& one, Statement& into);
  void bind(const Declarators& declared, const Declarator& one, int symbol, const Value& value);
  [[nodiscard]] bool keeps_by_members(const Declarators& declared, const Declarator& one, const Value& value,
                                      int count) const;
  [[nodiscard]] bool keeps_references(const Declarators& declared, const Declarator& one) const;
  void construct(const Declarators& declared, const Declarator& one, int symbol, Statement& into);
  void skip_block(const Declarators& declared, const Declarator& one, Statement& into);
  void guards(size_t begin, size_t end, int parent);
  [[nodiscard]] bool has_plain_elements(const Declarators& declared) const;
  Symbol symbol_of(const Declarators& declared, const Declarator& one) const;
  void captures(size_t begin, size_t end);
  void capture(size_t name, size_t end, bool reference);
  std::pair<int, size_t> lambda(const Tree& tree, size_t begin);
  int open_statement(size_t begin, size_t end, int parent);
  size_t end_of(size_t at, size_t end) const;
  [[nodiscard]] size_t past(size_t token, size_t end) const;
  void mark_loop(size_t begin, size_t end);
  [[nodiscard]] Statement& at(int statement) { return model_.statements[static_cast<size_t>(statement)]; }
  [[nodiscard]] const Tree& tree() const { return *tree_; }
  [[nodiscard]] bool is(size_t token, std::string_view text) const { return tree_->is(token, text); }

  Model& model_;
  const Vocabulary& words_;
  Scopes scopes_;
  Expressions expressions_;
  const Tree* tree_ = nullptr;
  int source_ = 0, function_ = 0, statement_ = -1;
};

}  // namespace flor::probes
