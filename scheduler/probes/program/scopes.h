// Which variable a name means, while a file is read from top to bottom.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "probes/program/model.h"

namespace flor::probes {

class Scopes {
 public:
  // A local variable, by the number of its name.
  struct Local {
    int name, symbol;
  };
  // The local variables that can be seen, those of inner scopes behind those of outer ones.
  struct Locals {
    std::vector<Local> all;
    std::vector<size_t> opened;  // where each scope begins
  };

  explicit Scopes(Model& model) : model_(model) {}

  void open() { locals_.opened.push_back(locals_.all.size()); }
  void close();
  // Forgets all local variables until they come back: a function's body sees none of another's.
  Locals enter_function() { return std::exchange(locals_, {}); }
  void leave_function(Locals outer) { locals_ = std::move(outer); }

  // A new variable in the innermost scope; outside of functions the nonlocal one of that name.
  int declare(Symbol symbol);
  // The variable that the name means here; the nonlocal one of that name where no local one is in scope.
  int find(const std::string& name);
  [[nodiscard]] int find_local(const std::string& name) const;  // −1: none
  int nonlocal(const std::string& name);

 private:
  int number(const std::string& name);
  [[nodiscard]] int local(int name) const;
  int nonlocal(int number, const std::string& name);

  Model& model_;
  std::unordered_map<std::string, int> numbers_;
  std::vector<int> nonlocals_;  // by the number of the name, −1: none
  Locals locals_;
};

}  // namespace flor::probes
