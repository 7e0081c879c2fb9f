// A program as variables and statements that read and change them. The rules about probes work on this model.
//
// Names are resolved by scope as far as possible without a compiler. All that is no local variable (a global,
// a member of any class, a static, a name of another file) is one variable per name: a change of one `sum`
// may change any `sum`.
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
  // Names of the members.
  Fields fields{};
};

struct Symbol {
  std::string name;
  // As declared, without cv, reference and template arguments. "": unknown.
  std::string type;
  // Function of a local variable or parameter. −1: nonlocal.
  int function = -1;
  // Of a local variable: file and token of its declaration.
  int source = -1;
  size_t token = 0;
  // Position as a parameter. −1: no parameter.
  int parameter = -1;
  // A number or string, copied when passed on.
  bool plain = false;
  // Refers to what it was bound to: an assignment changes that.
  bool reference = false;
  // A pointer, an array, or by its initializer an iterator.
  bool points = false;
  // Of an array: how many indices lead to an element, which may be a pointer itself.
  int dimensions = 0;
  // A number that no statement can change.
  bool constant = false;
  // static or thread_local: outlives its function.
  bool lasting = false;
  // The variable of a flor::loop: its value is always right.
  bool loop_value = false;
  // Names part of another variable, and is held where that one is held.
  bool view = false;
  // Creating an object of its type has an effect (a lock, a gradient mode), or the type is unknown.
  bool guarded = false;
  // Its declaration gives it its whole value.
  bool initialised = false;
  // The function that it names.
  int lambda = -1;
  // Of a view: what it is part of.
  std::vector<AccessPath> views{};
};
// Returns whether one path equals or contains the other.
bool overlap(const AccessPath& a, const AccessPath& b);

// How certain it is that a path is changed, and by what. The order counts: the most certain first.
enum class Cause {
  kCertain,
  // A module is set to training or evaluation mode.
  kSwitch,
  // A module computes, or a loader is iterated.
  kMode,
  // It is passed to unknown code.
  kGuess
};

struct Change {
  AccessPath path;
  // Changes the storage that it refers to, which others may share. Otherwise only the variable.
  bool deep = false;
  Cause cause = Cause::kCertain;
  // Of the modules that it leads to it changes parameters and nothing else: an optimizer's step.
  bool steps = false;
};

struct Argument {
  // Variables whose storage it may refer to, itself included.
  std::vector<AccessPath> roots;
  // Everything that it is computed from.
  std::vector<AccessPath> reads;
  // It is exactly roots[0]: a callee may change that by reference.
  bool is_variable = false;
};

struct Call {
  // Name of functions of the program,
  int name = -1;
  // or this lambda.
  int lambda = -1;
  // Class (a name) that the called object certainly has. −1: unknown.
  int type = -1;
  bool method = false;
  // Symbol −1: none, or the calling object itself.
  AccessPath receiver{};
  std::vector<Argument> arguments{};
  // Functions that it may run.
  std::vector<int> callees{};
};

struct Statement {
  int source = 0;
  size_t begin = 0, end = 0;  // tokens
  int function = -1;
  // The statement whose condition decides whether this one runs. −1: none.
  int parent = -1;
  std::vector<AccessPath> reads{};
  std::vector<Change> changes{};
  std::vector<Call> calls{};
  std::vector<int> declares{};  // symbols
  // Leaves the code around it: return, break, continue, goto, throw.
  bool jumps = false;
  // Its value is the value of the function.
  bool returns = false;
  // Calls code that may call back a function passed out before.
  bool unknown = false;
  // Creates an object of unknown type.
  bool creates = false;
  // Runs wherever an object of the class is made, or the function is called: an initializer of a member, a
  // default argument.
  bool apart = false;
  // Calls flor::log.
  bool logs = false;
  // The clock or file that it reads.
  std::string volatile_name{};
};

// How a function hands back its value.
enum class Returns {
  // Numbers, strings, or containers of them: whoever gets it shares nothing.
  kCopy,
  // By value, of a type that copies a variable, and may share what a tensor, a pointer or an iterator leads
  // to.
  kValue,
  // A reference, a pointer, or a type that may keep one: another name of what is returned.
  kReference
};

struct Function {
  int name = -1;
  // Class (a name) of a method. −1: none, or unknown.
  int owner = -1;
  int source = 0;
  size_t begin = 0, end = 0;  // tokens of its body
  // Node in the tree. −1: a lambda.
  int node = -1;
  // Of a lambda: the function around it.
  int outer = -1;
  // Of a lambda: the statement that holds it.
  int at = -1;
  bool method = false;
  // Called by the language: operators, destructors, begin, swap, …
  bool implicit = false;
  // A constructor of a class of which objects are made without naming it: as members, bases, elements.
  bool hidden = false;
  // A method of a class that has a forward().
  bool of_module = false;
  // Passed out: it may run wherever unknown code is called.
  bool escapes = false;
  // Returns a number, a string or nothing.
  bool plain = false;
  Returns returns = Returns::kReference;
  std::vector<int> parameters{};  // symbols
  std::vector<int> statements{};
  // What its value may share storage with.
  std::vector<AccessPath> results{};
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

// A loop that may be the main loop: a flor::loop outside blocks and other such loops. Flow chooses.
struct MainLoop {
  int source = 0, node = 0, function = -1;
  size_t begin = 0, end = 0;
};

struct Model {
  const Program* program = nullptr;
  std::vector<Symbol> symbols;
  // In order of the text, file by file.
  std::vector<Statement> statements;
  // functions[0] holds the code outside all functions.
  std::vector<Function> functions;
  std::vector<Block> blocks;
  // Each flor::loop of a function that is outside blocks and other such loops.
  std::vector<MainLoop> loops;
  // Arguments of flor::checkpointing outside loops.
  std::vector<AccessPath> guarded;
  bool has_guard = false;
  // Names of modules, parameters and buffers that a module owns.
  std::set<int> registered;
  // Names that flor_state hooks mention.
  std::set<int> hooked;
  // Names that classes declare.
  std::set<int> members;
  // Of these: names of static ones alone, of which there is one for all objects.
  std::set<int> statics;
  // Names of functions that are mentioned and not called.
  std::set<int> handed_out;
  // Name → functions.
  std::unordered_map<int, std::vector<int>> by_name;
  std::unordered_map<std::string, int> names;
  // Number → name.
  std::vector<std::string> texts;
  // Symbols that may share storage.
  std::vector<std::pair<int, int>> shared;
  std::vector<Result> results;

  // Returns the number of the name, a new one for a new name. "(…)" are parts without a name.
  int name(const std::string& text);
  // Returns −1 if no such name exists.
  [[nodiscard]] int find(const std::string& text) const;
  [[nodiscard]] const std::string& text(int name) const { return texts[static_cast<size_t>(name)]; }
  [[nodiscard]] const Symbol& symbol(int index) const { return symbols[static_cast<size_t>(index)]; }
  [[nodiscard]] const Statement& statement(int index) const { return statements[static_cast<size_t>(index)]; }
  [[nodiscard]] const Function& function(int index) const { return functions[static_cast<size_t>(index)]; }
  // Returns "train.cpp:31".
  [[nodiscard]] std::string where(const Statement& statement) const;
  [[nodiscard]] int line(const Statement& statement) const;
  [[nodiscard]] std::string text_of(const AccessPath& path) const;
};

Model build_model(const Program& program);

// Returns the variables of others that a lambda names, or passes to calls.
std::vector<AccessPath> used_by(const Model& model, int lambda);

}  // namespace flor::probes
