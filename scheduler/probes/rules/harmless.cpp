#include "probes/rules/harmless.h"

#include <algorithm>
#include <optional>

#include "probes/cxx/log_calls.h"

namespace flor::probes {
namespace {

using Words = std::set<std::string>;

const Words kAssignments = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "<<=", ">>="};

const Words kKeywords = {"new",    "delete", "throw", "co_await", "co_yield", "co_return",
                         "return", "goto",   "asm",   "continue", "break",    "SkipBlock"};

// Calls that change their object, their arguments or the process. Names that end in `_` are PyTorch's
// in-place convention and need no entry.
const Words kMutators = {"step",
                         "step_into",
                         "backward",
                         "train",
                         "eval",
                         "move",
                         "zero_grad",
                         "swap",
                         "exchange",
                         "reset",
                         "clear",
                         "load",
                         "load_state_dict",
                         "manual_seed",
                         "push_back",
                         "emplace_back",
                         "insert",
                         "emplace",
                         "erase",
                         "pop_back",
                         "resize",
                         "release",
                         "seed",
                         "set_data",
                         "set_lr",
                         "set_current_seed",
                         "next",
                         "exit",
                         "_exit",
                         "abort",
                         "assign",
                         "set_state",
                         "mutable_grad"};

// What may stand in a call of flor::log: how a row is kept.
const Words kLogOptions = {"is_volatile", "summary", "histogram", "whole", "image"};

const Words kNumbers = {"size_t",        "int8_t",        "int16_t",      "int32_t",      "int64_t",
                        "uint8_t",       "uint16_t",      "uint32_t",     "uint64_t",     "std::size_t",
                        "std::int8_t",   "std::int16_t",  "std::int32_t", "std::int64_t", "std::uint8_t",
                        "std::uint16_t", "std::uint32_t", "std::uint64_t"};

// Only types whose construction and end do nothing else: a guard or lock would change what follows.
const Words kValues = {"std::string",   "std::string_view",   "std::vector",   "std::array",
                       "std::map",      "std::set",           "std::pair",     "std::tuple",
                       "std::optional", "std::unordered_map", "torch::Tensor", "at::Tensor"};

bool number_type(const std::string& type) {
  const std::string first = type.substr(0, type.find(' '));
  static const Words kBuiltin = {"bool",  "char",   "short",    "int",   "long",
                                 "float", "double", "unsigned", "signed"};
  return kBuiltin.count(first) != 0 || kNumbers.count(type) != 0;
}

constexpr size_t kMaxVariables = 500;  // of all probes in one scope: enough for any

bool control_word(const std::string& word) {
  return word == "if" || word == "else" || word == "for" || word == "while";
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool guard_type(const std::string& type) {
  return ends_with(type, "NoGradGuard") || ends_with(type, "InferenceMode");
}

// Does an initializer make a guard (`auto g = torch::NoGradGuard()`)?
bool names_guard(const Tree& tree, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    const std::string& text = tree.text(i);
    if (!tree.word(i)) continue;
    if (text.find("uard") != std::string::npos || text.find("lock") != std::string::npos) return true;
    if (ends_with(text, "Mode")) return true;
  }
  return false;
}

// The kind of a new variable; nothing where its type is not known to be harmless.
std::optional<NameKind> kind_of(const Tree& tree, const Declaration& declared) {
  if (names_guard(tree, declared.init_begin, declared.init_end)) return std::nullopt;
  if (declared.indirect) return NameKind::kReference;
  if (number_type(declared.type)) return NameKind::kNumber;
  if (declared.range) return NameKind::kReference;
  if (declared.type == "auto") {
    const bool literal = declared.init_begin + 1 == declared.init_end &&
                         tree.tokens[declared.init_begin].kind == TokenKind::kNumber;
    return literal ? NameKind::kNumber : NameKind::kValue;
  }
  if (kValues.count(declared.type) != 0) return NameKind::kValue;
  return std::nullopt;
}

}  // namespace

bool Harmless::pure_word(size_t at) const {
  const std::string& text = tree_.text(at);
  if (kKeywords.count(text) != 0) return false;
  if (text == "flor") return tree_.is(at + 1, "::") && kLogOptions.count(tree_.text(at + 2)) != 0;
  if (!tree_.is(at + 1, "(")) return true;
  if (text.size() > 1 && text.back() == '_') return false;
  return kMutators.count(text) == 0 && (rules_.mutators == nullptr || rules_.mutators->count(text) == 0);
}

bool Harmless::pure(size_t begin, size_t end) const {
  for (size_t i = begin; i < end; ++i) {
    const Token& token = tree_.tokens[i];
    if (token.kind == TokenKind::kDirective) return false;
    if (token.kind == TokenKind::kWord && !pure_word(i)) return false;
    if (token.kind != TokenKind::kPunctuator) continue;
    if (token.text == ";" || kAssignments.count(token.text) != 0) return false;
    // A bracket behind no value opens a lambda.
    const bool value = i > begin && (tree_.word(i - 1) || tree_.is(i - 1, ")") || tree_.is(i - 1, "]"));
    if (token.text == "[" && !value) return false;
  }
  return true;
}

bool Harmless::declare(const Declaration& declared, Scope* scope, int depth) const {
  if (declared.lasting || (rules_.taken != nullptr && rules_.taken->count(declared.name) != 0)) return false;
  if (!pure(declared.init_begin, declared.init_end)) return false;
  const bool enclosed = depth > 0 || rules_.in_function;
  if (enclosed && guard_type(declared.type)) return declared.init_begin == declared.init_end;
  const std::optional<NameKind> kind = kind_of(tree_, declared);
  if (!kind) return false;
  const auto [entry, fresh] = scope->emplace(declared.name, *kind);
  if (!fresh) entry->second = std::min(entry->second, *kind);
  return true;
}

// NAME = …, NAME += …, ++NAME, NAME++, NAME.push_back(…), without the ';'.
bool Harmless::assignment(size_t begin, size_t end, const Scope& scope) const {
  const bool prefix = tree_.is(begin, "++") || tree_.is(begin, "--");
  const size_t at = prefix ? begin + 1 : begin;
  if (at >= end || !tree_.word(at)) return false;
  const auto variable = scope.find(tree_.text(at));
  if (variable == scope.end() || variable->second == NameKind::kReference) return false;
  const bool number = variable->second == NameKind::kNumber;
  if (prefix) return number && at + 1 == end;
  if (at + 1 >= end) return false;
  const std::string& operation = tree_.text(at + 1);
  if (operation == "++" || operation == "--") return number && at + 2 == end;
  if (operation == ".") {
    const bool append = tree_.is(at + 2, "push_back") || tree_.is(at + 2, "emplace_back");
    return append && tree_.is(at + 3, "(") && tree_.match[at + 3] + 1 == end && pure(at + 4, end - 1);
  }
  if (kAssignments.count(operation) == 0) return false;
  return (number || operation == "=") && pure(at + 2, end);
}

bool Harmless::for_head(size_t begin, size_t end, Scope* scope) const {
  size_t first = begin;
  while (first < end && !tree_.is(first, ";")) first = tree_.skip(first);
  const std::optional<Declaration> declared = declaration(tree_, begin, first);
  if (!declared || !declare(*declared, scope, 0)) return false;
  if (first >= end) return declared->range;
  size_t second = first + 1;
  while (second < end && !tree_.is(second, ";")) second = tree_.skip(second);
  return second < end && pure(first + 1, second) && assignment(second + 1, end, *scope);
}

bool Harmless::controls(size_t* at, size_t end, Scope* scope) const {
  while (*at < end) {
    const std::string& word = tree_.text(*at);
    if (word == "else") {
      ++*at;
      continue;
    }
    if (!control_word(word)) return true;
    const size_t open = word == "if" && tree_.is(*at + 1, "constexpr") ? *at + 2 : *at + 1;
    if (!tree_.is(open, "(")) return false;
    const size_t close = tree_.match[open];
    if (!(word == "for" ? for_head(open + 1, close, scope) : pure(open + 1, close))) return false;
    *at = close + 1;
  }
  return true;
}

bool Harmless::simple(size_t begin, size_t end, Scope* scope, int depth) const {
  if (begin >= end || !tree_.is(end - 1, ";")) return false;
  LogCall call;
  if (log_call(tree_, begin, rules_.unqualified_log, &call)) {
    return rules_.logs && tree_.match[call.open] + 2 == end && pure(call.open + 1, end - 2);
  }
  if (tree_.is(begin, "return")) return rules_.in_function && pure(begin + 1, end - 1);
  const bool jump = tree_.is(begin, "break") || tree_.is(begin, "continue");
  if (jump) return rules_.in_function && begin + 2 == end;
  if (assignment(begin, end - 1, *scope)) return true;
  const std::optional<Declaration> declared = declaration(tree_, begin, end);
  return declared && declare(*declared, scope, depth);
}

bool Harmless::statement(int index, Scope* scope, int depth) const {
  const Node& node = tree_.node(index);
  size_t at = node.begin;
  if (node.kind == NodeKind::kLeaf && !control_word(tree_.text(at)))
    return simple(at, node.end, scope, depth);
  if (scope->size() > kMaxVariables) return false;  // copied below
  Scope inner = *scope;
  if (node.kind == NodeKind::kLeaf) {
    return controls(&at, node.end, &inner) && simple(at, node.end, &inner, depth + 1);
  }
  const bool known =
      node.kind == NodeKind::kLoop || node.kind == NodeKind::kControl || node.kind == NodeKind::kPlain;
  if (!known || !controls(&at, node.head_end, &inner) || at != node.head_end) return false;
  return std::all_of(node.children.begin(), node.children.end(),
                     [&](int child) { return statement(child, &inner, depth + 1); });
}

bool Harmless::function(int index) const {
  const Node& node = tree_.node(index);
  // An operator or an attribute can act without being called by name, and so can these, by the language's own
  // rules.
  static const Words kImplicit = {"main", "begin", "end", "swap", "get", "size", "data", ""};
  if (node.kind != NodeKind::kFunction || kImplicit.count(node.name) != 0) return false;
  if (node.name.compare(0, 4, "flor") == 0) return false;
  for (size_t i = node.begin; i < node.head_end; ++i) {
    const std::string& text = tree_.text(i);
    if (text == "operator" || text == "[" || text == "__attribute__" || text == "flor") return false;
    if (tree_.tokens[i].kind == TokenKind::kDirective) return false;
  }
  HarmlessRules rules = rules_;
  rules.taken = nullptr;
  rules.logs = false;
  rules.in_function = true;
  const Harmless inside(tree_, rules);
  Scope scope;
  return std::all_of(node.children.begin(), node.children.end(),
                     [&](int child) { return inside.statement(child, &scope, 0); });
}

}  // namespace flor::probes
