// A program as variables, and statements that read and change them: what the rules about probes judge by.
//
// Names are resolved by scope as far as that can be told without a compiler. What is no local variable (a
// global, a member of any class, a static, a name of another file) is one variable for each name: what
// changes one `sum` may change any `sum`.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "probes/program/fields.h"
#include "probes/program/program.h"

namespace flor::probes {

// A variable, or the part of it that member names lead to.
struct AccessPath {
  int symbol = -1;
  Fields fields{};  // names
};

struct Symbol {
  std::string name;
  std::string type;   // as declared, without cv, reference and template arguments; "" unknown
  int function = -1;  // of a local variable or parameter: whose; −1: nonlocal
  int source = -1;    // of a local one: file and place of its declaration
  size_t token = 0;
  int parameter = -1;               // its position, −1: no parameter
  bool plain = false;               // a number or string, copied when it is handed on
  bool reference = false;           // stands for what it was bound to: to assign is to change that
  bool constant = false;            // a number that nothing can change
  bool lasting = false;             // static, thread_local: outlives its function
  bool loop_value = false;          // the variable of a flor::loop: always right
  bool view = false;                // names part of another variable; what that one holds, it holds
  bool guarded = false;             // its type acts by being there (locks, gradient modes) or is not known
  bool initialised = false;         // its declaration gives it its whole value
  int lambda = -1;                  // the function that it names
  std::vector<AccessPath> views{};  // of a view: what it is part of
};
bool overlap(const AccessPath& a, const AccessPath& b);  // is one of them the other one, or in it?

// How sure it is that a path is changed.
enum class Cause {
  kCertain,
  kSwitch,  // a module is set to train or to evaluate
  kMode,    // a module computes, a loader is walked through
  kGuess    // it is handed to what is not known
};

struct Change {
  AccessPath path;
  bool deep = false;  // the storage that it leads to, which others may share; else the variable alone
  Cause cause = Cause::kCertain;
};

struct Argument {
  std::vector<AccessPath> roots;  // variables whose storage it may lead to, itself among them
  std::vector<AccessPath> reads;  // all that it is computed from
  bool is_variable = false;       // it is nothing but roots[0]: a callee may change that by reference
};

struct Call {
  int name = -1;    // of functions of the program
  int lambda = -1;  // or this one
  int type = -1;    // the class (a name) that the called object certainly has, −1: unknown
  bool method = false;
  AccessPath receiver{};  // symbol −1: none, or the calling object itself
  std::vector<Argument> arguments{};
  std::vector<int> callees{};  // functions that it may run
};

struct Statement {
  int source = 0;
  size_t begin = 0, end = 0;  // tokens
  int function = -1;
  int parent = -1;  // the statement whose condition decides whether it runs, −1: none
  std::vector<AccessPath> reads{};
  std::vector<Change> changes{};
  std::vector<Call> calls{};
  std::vector<int> declares{};  // symbols
  bool jumps = false;           // leaves what is around it: return, break, continue, goto, throw
  bool returns = false;         // its value is the function's
  bool unknown = false;         // calls what may call back a function that was handed out
  bool creates = false;         // an object of a type that is not known
  bool logs = false;            // a call of flor::log
  std::string volatile_name{};  // the clock or file that it reads
};

struct Function {
  int name = -1;
  int owner = -1;  // the class (a name) whose method it is, −1: none, or unknown
  int source = 0;
  size_t begin = 0, end = 0;  // tokens of its body
  int node = -1;              // in the tree, −1: a lambda
  int outer = -1;             // of a lambda: the function around it
  int at = -1;                // of a lambda: the statement that holds it
  bool method = false;
  bool implicit = false;          // the language calls it: operators, destructors, begin, swap, …
  bool of_module = false;         // a method of a class that has a forward()
  bool escapes = false;           // handed out: it may run wherever something unknown is called
  bool plain = false;             // returns a number, a string or nothing
  std::vector<int> parameters{};  // symbols
  std::vector<int> statements{};
  std::vector<AccessPath> results{};  // what its value may share storage with
};

// The value of a call, as a variable of its own.
struct Result {
  int symbol = -1;
  Call call;
};

struct Block {
  std::string name;
  int source = 0, node = 0;
  int function = -1;
  size_t begin = 0, end = 0;       // tokens of its region
  std::vector<AccessPath> held{};  // its arguments
  int line = 0;
};

struct MainLoop {
  int source = 0, node = 0, function = -1;
  size_t begin = 0, end = 0;
};

struct Model {
  const Program* program = nullptr;
  std::vector<Symbol> symbols;
  std::vector<Statement> statements;  // in order of the text, file by file
  std::vector<Function> functions;    // functions[0]: what stands outside of all functions
  std::vector<Block> blocks;
  std::vector<MainLoop> loops;  // each flor::loop outside of blocks and of other such loops in its function
  std::vector<AccessPath> guarded;  // arguments of flor::checkpointing outside of loops
  bool has_guard = false;
  std::set<int> registered;  // names of modules, parameters and buffers that a module owns
  std::set<int> hooked;      // names that flor_state hooks mention
  std::set<int> members;     // names that classes declare
  std::set<int> handed_out;  // names of functions that are mentioned and not called
  std::unordered_map<int, std::vector<int>> by_name;  // functions
  std::unordered_map<std::string, int> names;
  std::vector<std::string> texts;           // names back
  std::vector<std::pair<int, int>> shared;  // symbols that may share storage
  std::vector<Result> results;

  int name(const std::string& text);  // its number, a new one where it is new; "(…)" are parts without a name
  [[nodiscard]] int find(const std::string& text) const;  // −1: no such name
  [[nodiscard]] const std::string& text(int name) const { return texts[static_cast<size_t>(name)]; }
  [[nodiscard]] const Symbol& symbol(int index) const { return symbols[static_cast<size_t>(index)]; }
  [[nodiscard]] const Statement& statement(int index) const { return statements[static_cast<size_t>(index)]; }
  [[nodiscard]] const Function& function(int index) const { return functions[static_cast<size_t>(index)]; }
  // "train.cpp:31"
  [[nodiscard]] std::string where(const Statement& statement) const;
  [[nodiscard]] int line(const Statement& statement) const;
  [[nodiscard]] std::string text_of(const AccessPath& path) const;
};

Model build_model(const Program& program);

}  // namespace flor::probes
