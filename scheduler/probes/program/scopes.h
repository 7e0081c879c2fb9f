// Resolves names to variables while a file is read from top to bottom.
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
  // The visible local variables; inner scopes come after outer ones.
  struct Locals {
    std::vector<Local> all;
    // Where each scope begins.
    std::vector<size_t> opened;
  };

  explicit Scopes(Model& model) : model_(model) {}

  void open() { locals_.opened.push_back(locals_.all.size()); }
  void close();
  // Hides all local variables until leave_function(): the body of a function sees none of another.
  Locals enter_function() { return std::exchange(locals_, {}); }
  void leave_function(Locals outer) { locals_ = std::move(outer); }

  // Declares a variable in the innermost scope. Outside functions: the nonlocal one of that name.
  int declare(Symbol symbol);
  // Returns the variable that the name means here: a local one in scope, else the nonlocal one.
  int find(const std::string& name);
  // Returns −1 if no local variable of that name is in scope.
  [[nodiscard]] int find_local(const std::string& name) const;
  int nonlocal(const std::string& name);
  // Members of unions, which share their storage: each name stands for the other one.
  void set_unions(std::unordered_map<std::string, std::string> names) { unions_ = std::move(names); }
  [[nodiscard]] const std::string& one_name(const std::string& name) const {
    const auto at = unions_.find(name);
    return at == unions_.end() ? name : at->second;
  }

 private:
  int number(const std::string& name);
  [[nodiscard]] int local(int name) const;
  int nonlocal(int number, const std::string& name);

  Model& model_;
  std::unordered_map<std::string, int> numbers_;
  std::unordered_map<std::string, std::string> unions_;
  // By the number of the name. −1: none.
  std::vector<int> nonlocals_;
  Locals locals_;
};

}  // namespace flor::probes
