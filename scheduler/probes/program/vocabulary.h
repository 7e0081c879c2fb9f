// Collects what the files of a program declare: functions, classes, macros.
#pragma once

#include "probes/program/expressions.h"
#include "probes/program/program.h"

namespace flor::probes {

// What the head of a function declares.
struct FunctionHead {
  // "operator()", "operator[]", "operator->", kConversion, and "operator" for any other operator.
  std::string name;
  // Class of a method. "": none, or unknown.
  std::string owner;
  bool method = false, implicit = false, plain = false;
  // Opening parenthesis of its parameters. 0: not found.
  size_t open = 0;
};
FunctionHead function_head(const Tree& tree, const Node& node);

// Returns the name that a class node declares. "": none.
std::string class_name(const Tree& tree, const Node& node);

Vocabulary vocabulary_of(const Program& program);

}  // namespace flor::probes
