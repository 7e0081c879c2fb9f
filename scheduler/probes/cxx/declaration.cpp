#include "probes/cxx/declaration.h"

#include <string>
#include <unordered_set>

namespace flor::probes {
namespace {

const std::unordered_set<std::string>& builtin_types() {
  static const std::unordered_set<std::string> kTypes = {"bool",  "char",   "short",    "int",   "long",
                                                         "float", "double", "unsigned", "signed"};
  return kTypes;
}

bool keyword(const std::string& word) {
  static const std::unordered_set<std::string> kWords = {
      "return",   "if",     "else",     "for",    "while",   "do",     "switch",    "case",
      "default",  "break",  "goto",     "delete", "new",     "throw",  "using",     "struct",
      "continue", "class",  "enum",     "union",  "try",     "catch",  "namespace", "const",
      "auto",     "sizeof", "template", "public", "private", "typedef"};
  return kWords.count(word) != 0 || builtin_types().count(word) != 0;
}

class Reader {
 public:
  Reader(const Tree& tree, size_t begin, size_t end) : tree_(tree), at_(begin), end_(end) {
    if (end_ > at_ && tree_.is(end_ - 1, ";")) --end_;
  }

  std::optional<Declaration> read() {
    specifiers();
    if (!type()) return std::nullopt;
    while (next_is("const") || next_is("&") || next_is("&&") || next_is("*")) {
      out_.indirect = out_.indirect || !next_is("const");
      ++at_;
    }
    if (at_ >= end_ || !tree_.word(at_) || keyword(tree_.text(at_))) return std::nullopt;
    out_.name = tree_.text(at_++);
    if (!initializer()) return std::nullopt;
    return out_;
  }

 private:
  [[nodiscard]] bool next_is(std::string_view text) const { return at_ < end_ && tree_.is(at_, text); }

  void specifiers() {
    for (; at_ < end_; ++at_) {
      const bool lasting = next_is("static") || next_is("thread_local") || next_is("extern");
      if (!lasting && !next_is("const") && !next_is("constexpr")) return;
      out_.lasting = out_.lasting || lasting;
    }
  }

  bool type() {
    if (next_is("auto")) {
      out_.type = tree_.text(at_++);
      return true;
    }
    for (; at_ < end_ && builtin_types().count(tree_.text(at_)) != 0; ++at_) {
      out_.type += (out_.type.empty() ? "" : " ") + tree_.text(at_);
    }
    if (!out_.type.empty()) return true;
    if (next_is("::")) ++at_;
    while (at_ < end_ && tree_.word(at_) && !keyword(tree_.text(at_))) {
      out_.type += tree_.text(at_++);
      if (next_is("<") && !template_arguments()) return false;
      if (!next_is("::")) return true;
      out_.type += tree_.text(at_++);
    }
    return false;
  }

  bool template_arguments() {
    int depth = 0;
    for (; at_ < end_; at_ = tree_.skip(at_)) {
      if (next_is("<")) ++depth;
      if (next_is(">")) --depth;
      if (next_is(">>")) depth -= 2;
      if (depth > 0) continue;
      ++at_;
      return depth == 0;
    }
    return false;
  }

  bool initializer() {
    out_.init_begin = out_.init_end = end_;
    if (at_ >= end_) return true;
    if (next_is("=") || next_is(":")) {
      out_.range = next_is(":");
      out_.init_begin = at_ + 1;
      for (size_t i = at_; i < end_; i = tree_.skip(i)) {
        if (tree_.is(i, ",")) return false;  // int a = 0, b;
      }
      return at_ + 1 < end_;
    }
    if ((!next_is("{") && !next_is("(")) || tree_.match[at_] + 1 != end_) return false;
    out_.init_begin = at_ + 1;
    out_.init_end = end_ - 1;
    return true;
  }

  const Tree& tree_;
  size_t at_, end_;
  Declaration out_;
};

}  // namespace

std::optional<Declaration> declaration(const Tree& tree, size_t begin, size_t end) {
  return Reader(tree, begin, end).read();
}

}  // namespace flor::probes
