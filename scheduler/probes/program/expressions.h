// Analyses expressions: what they read, change and call, and with which variables their values may share
// storage.
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

// The name of all functions that convert an object, as `operator bool()`.
inline constexpr const char* kConversion = "(conversion)";

struct Value {
  // Empty: the value shares no storage.
  std::vector<AccessPath> roots{};
  // The value is roots[0] itself: a variable, or a member of one.
  bool variable = false;
  // An assignment to it changes what the roots refer to.
  bool deep = false;
  // Some element of roots[0]: further member names are not tracked.
  bool cut = false;
  // A pointer or an iterator: with a number it makes another.
  bool points = false;
  // Of an array: how many more indices lead to an element. What they name before that are pointers, too.
  int dimensions = 0;
  // Made only of member access, elements and views.
  bool chain = true;
  // LibTorch options, inside a chain like `.a(1).b(2)`.
  bool options = false;
  // The value is this function.
  int lambda = -1;
  // Of an argument: everything that it is computed from.
  std::vector<AccessPath> reads{};
};

// Returns all arguments as one value, which may refer to each of them.
Value together(const std::vector<Value>& arguments);

// A macro of the program. Its text is read where the macro is used.
struct Macro {
  std::set<std::string> parameters;
  Tree tree;
};

// What the files of the program declare. Collected before any body is read.
struct Vocabulary {
  WordSet functions, classes;
  std::map<std::string, Macro> macros;
  // Class → its base classes.
  std::map<std::string, std::set<std::string>> bases;
  // Method name → classes that have such a method.
  std::map<std::string, std::set<std::string>> owners;
  // Classes of which objects are made as members, bases, or elements.
  WordSet made_unnamed;
  // Classes with a member that is a reference or a pointer, or another such class.
  WordSet keeping;
  // Names that classes derive from.
  WordSet parents;
  // A template derives from its parameter.
  bool any_parent = false;
  // Every function of that name returns a number, a string or nothing.
  WordSet plain_functions;
  // Aliases of number types: Real for `using Real = double;`.
  std::map<std::string, std::string> numbers;
  // LibTorch modules may update buffers while they compute.
  bool has_buffers = false;
  // LibTorch modules may change their arguments.
  bool in_place_modules = false;

  // Returns the classes whose methods an object of this class may run: itself, its Impl and all their base
  // classes. Empty: others may derive from it, or the program does not declare it.
  [[nodiscard]] std::set<std::string> family(const std::string& type) const;
  // Returns the number type that the name is an alias of, or the name itself.
  [[nodiscard]] const std::string& resolved(const std::string& type) const {
    const auto at = numbers.find(type);
    return at == numbers.end() ? type : at->second;
  }
  // Returns whether `method` on an object of this type may be a method of the program.
  [[nodiscard]] bool may_have(const std::string& type, const std::string& method) const;
};

class Expressions {
 public:
  // Reads the parameters and body of a lambda; `begin` is its `[`. Returns its function and the token after
  // it.
  using ReadLambda = std::function<std::pair<int, size_t>(const Tree&, size_t begin)>;

  Expressions(Model& model, Scopes& scopes, const Vocabulary& words, ReadLambda read_lambda)
      : model_(model), scopes_(scopes), words_(words), read_lambda_(std::move(read_lambda)) {}

  void set_source(bool unqualified_log) { unqualified_log_ = unqualified_log; }

  // Reads [begin, end) into the statement. `discarded`: the value is not used.
  Value read(const Tree& tree, size_t begin, size_t end, Statement& into, bool discarded = false);
  // Returns the paths that the arguments of a block or guard in [begin, end) name. An argument that is no
  // path holds nothing.
  std::vector<AccessPath> held(const Tree& tree, size_t begin, size_t end, Statement& into);
  // Returns whether it is a number or string, which is copied when passed on.
  [[nodiscard]] bool is_plain(const AccessPath& path);
  // Records that the two share storage from here on. Ignores numbers and strings.
  void share(int symbol, const Value& value);
  // Records that the function returns the value.
  void give_back(const Value& value, int function);
  // Records that the functions among the values are kept, and may run wherever unknown code is called.
  void hand_out(const std::vector<Value>& values);
  // Records that the variable is another name of this path.
  void alias(int symbol, const AccessPath& path) { aliases_[symbol] = path; }
  void change(const Value& value, Statement& into, Cause cause = Cause::kCertain);

 private:
  Value single(size_t begin, size_t end);
  Value binary(size_t begin, size_t end);
  Value operand(size_t& at, size_t end, bool target = false);
  Value primary(size_t& at, size_t end, bool target);
  Value named(size_t& at, size_t end, bool target);
  Value cast(size_t& at, size_t end);
  [[nodiscard]] bool names_type(size_t open, size_t end) const;
  Value named_cast(size_t& at, size_t end, bool target);
  std::optional<Value> keyword(size_t& at, size_t end, bool target);
  Value postfix(Value value, size_t& at, size_t end, bool target);
  Value member_by_pointer(Value value, size_t& at, size_t end);
  Value member(Value value, size_t& at, size_t end);
  Value variable(const std::string& name);
  void name_array(const Symbol& symbol, Value* value) const;
  static void to_element(Value* value);
  Value call(const std::string& qualified, size_t open);
  Value method(Value object, const std::string& name, size_t open);
  Value library_call(const std::string& qualified, const std::vector<Value>& arguments);
  Value library_method(const Value& object, const std::string& name, const std::vector<Value>& arguments);
  Value optimizer_step(Value optimizer, const std::vector<Value>& arguments);
  void use_operator(const Value* object, const std::vector<Value>& operands);
  void use_own(const char* name, Value* object, const std::vector<Value>& arguments);
  void make_object(const std::string& type, const std::vector<Value>& arguments);
  void make_elements(size_t begin, size_t end, const Value& from);
  void insert_by_index(const Value& object);
  void change_part(Value module, const char* part, Cause cause);
  Value callable(const Value& object, const std::vector<Value>& arguments);
  Value use_macro(const Macro& macro, size_t& at);
  Value assign(size_t begin, size_t operation, size_t end);
  [[nodiscard]] std::string type_of(const Value& object);
  void add_call(int name, int lambda, const Value* receiver, const std::vector<Value>& arguments);
  Value result_of_last_call();
  std::vector<Value> arguments(size_t open);
  void run_here(const std::vector<Value>& arguments);
  void unknown(const std::vector<Value>& arguments);
  // Records that the value is read.
  void note(const Value& value);
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
  // Nesting of expressions.
  static constexpr int kMaxDepth = 150;
  // Nesting of macros.
  static constexpr int kMaxMacroDepth = 40;
  int depth_ = 0;
  // The statement is `++x` or similar: only x uses what it reads.
  bool self_update_ = false;
  // The same for `x += 1`.
  bool discarded_ = false;
};

}  // namespace flor::probes
