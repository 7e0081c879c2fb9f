// What an expression reads, changes and calls, and which variables its value may share storage with.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "probes/cxx/library.h"
#include "probes/program/model.h"
#include "probes/program/scopes.h"

namespace flor::probes {

struct Value {
  std::vector<AccessPath> roots{};  // empty: it shares nothing
  bool variable = false;            // it is roots[0] itself: a variable, or a member of one
  bool deep = false;                // to assign to it changes what the roots lead to
  bool cut = false;                 // it is some element of roots[0]: member names behind say no more
  bool chain = true;                // made of member access, elements and views alone
  bool options = false;             // LibTorch's options, on their way through `.a(1).b(2)`
  int lambda = -1;                  // it is this function
  std::vector<AccessPath> reads{};  // of an argument: all that it is computed from
};

// All arguments as one value, which may lead to each of them.
Value together(const std::vector<Value>& arguments);

// A macro of the program, its text read as it stands where it is used.
struct Macro {
  std::set<std::string> parameters;
  Tree tree;
};

// What the program's files declare, known before any body is read.
struct Vocabulary {
  WordSet functions, classes;
  std::map<std::string, Macro> macros;
  std::map<std::string, std::set<std::string>> bases;   // of a class
  std::map<std::string, std::set<std::string>> owners;  // of a method's name: the classes that have one
  WordSet parents;                                      // names that classes derive from
  bool any_parent = false;                              // a template derives from its parameter
  WordSet plain_functions;                     // all of that name return a number, a string or nothing
  std::map<std::string, std::string> numbers;  // other names of number types: Real of `using Real = double;`
  bool has_buffers = false;                    // LibTorch's modules may count while they compute
  bool in_place_modules = false;               // LibTorch's modules may change their arguments

  // The classes whose methods an object of this class may run: itself, its Impl and all that they derive
  // from. Empty: others may derive from it, or it is none of the program's.
  [[nodiscard]] std::set<std::string> family(const std::string& type) const;
  // The number type that the name stands for; the name itself where it stands for none.
  [[nodiscard]] const std::string& resolved(const std::string& type) const {
    const auto at = numbers.find(type);
    return at == numbers.end() ? type : at->second;
  }
  // May `method` of an object of this type be one of the program's?
  [[nodiscard]] bool may_have(const std::string& type, const std::string& method) const;
};

class Expressions {
 public:
  // Reads a lambda's parameters and body: [begin, …) is its `[`; returns its function and the token behind.
  using ReadLambda = std::function<std::pair<int, size_t>(const Tree&, size_t begin)>;

  Expressions(Model& model, Scopes& scopes, const Vocabulary& words, ReadLambda read_lambda)
      : model_(model), scopes_(scopes), words_(words), read_lambda_(std::move(read_lambda)) {}

  void set_source(bool unqualified_log) { unqualified_log_ = unqualified_log; }

  // Reads [begin, end) into the statement; `discarded`: the value is not used.
  Value read(const Tree& tree, size_t begin, size_t end, Statement& into, bool discarded = false);
  // The paths that the arguments of a block or guard in [begin, end) name; what is no path holds nothing.
  std::vector<AccessPath> held(const Tree& tree, size_t begin, size_t end, Statement& into);
  // A number or string, copied when it is handed on.
  [[nodiscard]] bool is_plain(const AccessPath& path);
  // The two share storage from here on; numbers and strings never do.
  void share(int symbol, const Value& value);
  // The variable is another name of this path.
  void alias(int symbol, const AccessPath& path) { aliases_[symbol] = path; }
  void change(const Value& value, Statement& into, Cause cause = Cause::kCertain);

 private:
  Value single(size_t begin, size_t end);
  Value binary(size_t begin, size_t end);
  Value operand(size_t& at, size_t end, bool target = false);
  Value primary(size_t& at, size_t end, bool target);
  Value named(size_t& at, size_t end, bool target);
  Value cast(size_t& at, size_t end);
  std::optional<Value> keyword(size_t& at, size_t end, bool target);
  Value postfix(Value value, size_t& at, size_t end, bool target);
  Value member(Value value, size_t& at, size_t end);
  Value variable(const std::string& name);
  Value call(const std::string& qualified, size_t open);
  Value method(Value object, const std::string& name, size_t open);
  Value library_call(const std::string& qualified, const std::vector<Value>& arguments);
  Value library_method(const Value& object, const std::string& name, const std::vector<Value>& arguments);
  void use_operator(const Value* object, const std::vector<Value>& operands);
  void change_part(Value module, const char* part, Cause cause);
  Value callable(const Value& object, const std::vector<Value>& arguments);
  Value use_macro(const Macro& macro, size_t& at);
  Value assign(size_t begin, size_t operation, size_t end);
  [[nodiscard]] std::string type_of(const Value& object);
  void add_call(int name, int lambda, const Value* receiver, const std::vector<Value>& arguments);
  Value result_of_last_call();
  std::vector<Value> arguments(size_t open);
  void hand_out(const std::vector<Value>& arguments);
  void run_here(const std::vector<Value>& arguments);
  void unknown(const std::vector<Value>& arguments);
  void note(const Value& value);  // it is read
  void change(const Value& value, Cause cause = Cause::kCertain) { change(value, *into_, cause); }
  [[nodiscard]] size_t next(size_t at, size_t end) const;
  template <typename Wanted>
  [[nodiscard]] size_t find(size_t begin, size_t end, const Wanted& wanted) const;
  [[nodiscard]] bool is(size_t at, std::string_view text) const { return tree_->is(at, text); }

  Model& model_;
  Scopes& scopes_;
  const Vocabulary& words_;
  ReadLambda read_lambda_;
  bool unqualified_log_ = false;
  const Tree* tree_ = nullptr;
  Statement* into_ = nullptr;
  std::unordered_map<int, AccessPath> aliases_;
  static constexpr int kMaxDepth = 150;      // of expressions within expressions
  static constexpr int kMaxMacroDepth = 40;  // macros within macros
  int depth_ = 0;
  bool self_update_ = false;  // the statement is `++x` or its like: what it reads is of use to x alone
  bool discarded_ = false;    // the same of `x += 1`
};

}  // namespace flor::probes
