// What the files of a program declare: functions, classes, macros.
#pragma once

#include "probes/program/expressions.h"
#include "probes/program/program.h"

namespace flor::probes {

// The node's function, by what its head says.
struct FunctionHead {
  std::string name;   // "operator()", "operator" of any other
  std::string owner;  // the class whose method it is, "" none, or unknown
  bool method = false, implicit = false, plain = false;
  size_t open = 0;  // the parenthesis of its parameters, 0: none found
};
FunctionHead function_head(const Tree& tree, const Node& node);

// The name that a class node declares, "" where it has none.
std::string class_name(const Tree& tree, const Node& node);

Vocabulary vocabulary_of(const Program& program);

}  // namespace flor::probes
