#include "probes/cxx/declarators.h"

#include "probes/cxx/library.h"

namespace flor::probes {
namespace {

constexpr size_t kMaxTemplate = 400;  // tokens

bool builtin(Text word) {
  return word == "bool" || word == "char" || word == "short" || word == "int" || word == "long" ||
         word == "float" || word == "double" || word == "unsigned" || word == "signed" || word == "void" ||
         word == "wchar_t";
}

class Reader {
 public:
  Reader(const Tree& tree, size_t begin, size_t end) : tree_(tree), at_(begin), end_(end) {
    if (end_ > at_ && tree_.is(end_ - 1, ";")) --end_;
  }

  Declarators read() {
    if (!head()) return {};
    if (next_is("[") && out_.type == "auto") return binding();
    do {
      if (!one()) return {};
    } while (at_ < end_ && next_is(",") && ++at_ < end_);
    if (at_ != end_) return {};
    return std::move(out_);
  }

  Declarators parameter() {
    if (!head()) return {};
    Declarator one = marks();
    const bool in_brackets = array_in_brackets(&one);
    if (!in_brackets && at_ < end_ && tree_.word(at_) && !is_keyword(tree_.text(at_))) one.name = at_++;
    if (!in_brackets && next_is("[")) one.pointer = one.indirect = true;  // what callers pass
    while (next_is("[")) at_ = tree_.match[at_] + 1;
    one.init_begin = one.init_end = end_;
    if (next_is("=")) one.init_begin = at_ + 1;
    out_.list.push_back(one);
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool next_is(std::string_view text) const { return at_ < end_ && tree_.is(at_, text); }

  bool head() {
    specifiers();
    out_.type_begin = at_;
    if (!type()) return false;
    out_.type_end = at_;
    while (next_is("const") || next_is("constexpr")) {
      out_.constant = true;
      ++at_;
    }
    return true;
  }

  void specifiers() {
    for (; at_ < end_; ++at_) {
      if (next_is("[") && tree_.is(at_ + 1, "[")) {  // [[maybe_unused]]
        at_ = tree_.match[at_];
        continue;
      }
      const bool lasting = next_is("static") || next_is("thread_local");
      const bool constant = next_is("const") || next_is("constexpr");
      const bool other = next_is("inline") || next_is("mutable") || next_is("volatile") ||
                         next_is("typename") || next_is("extern") || next_is("register");
      if (!lasting && !constant && !other) return;
      out_.external = out_.external || next_is("extern");
      out_.lasting = out_.lasting || lasting;
      out_.constant = out_.constant || constant;
    }
  }

  bool type() {
    if (next_is("auto")) {
      out_.type = tree_.text(at_++);
      return true;
    }
    if (next_is("decltype") && tree_.is(at_ + 1, "(")) {
      at_ = tree_.match[at_ + 1] + 1;
      out_.type = "decltype";
      return true;
    }
    for (; at_ < end_ && builtin(tree_.tokens[at_].text); ++at_) {
      out_.type += (out_.type.empty() ? "" : " ") + tree_.text(at_);
    }
    if (!out_.type.empty()) return true;
    if (next_is("struct") || next_is("class") || next_is("enum") || next_is("union")) ++at_;
    if (next_is("::")) ++at_;
    while (at_ < end_ && tree_.word(at_) && !is_keyword(tree_.text(at_))) {
      out_.type += tree_.text(at_++);
      if (next_is("<")) {
        const size_t behind = behind_template(tree_, at_, end_);
        if (behind == at_) return false;
        at_ = behind;
      }
      if (!next_is("::")) return true;
      out_.type += tree_.text(at_++);
      if (next_is("template")) ++at_;
    }
    return false;
  }

  Declarator marks() {
    Declarator one;
    while (next_is("const") || next_is("volatile") || next_is("&") || next_is("&&") || next_is("*") ||
           next_is("...")) {
      one.pointer = one.pointer || next_is("*");
      one.indirect = one.indirect || next_is("&") || next_is("&&") || next_is("*");
      ++at_;
    }
    return one;
  }

  // `(&name)[3]`, a reference or pointer to an array.
  bool array_in_brackets(Declarator* one) {
    if (!next_is("(")) return false;
    const size_t close = tree_.match[at_];
    const bool mark = tree_.is(at_ + 1, "&") || tree_.is(at_ + 1, "*") || tree_.is(at_ + 1, "&&");
    if (!mark || close != at_ + 3 || !tree_.word(at_ + 2) || !tree_.is(close + 1, "[")) return false;
    one->indirect = true;
    one->pointer = tree_.is(at_ + 1, "*");
    one->name = at_ + 2;
    at_ = close + 1;
    return true;
  }

  bool one() {
    Declarator one = marks();
    if (!array_in_brackets(&one)) {
      if (at_ >= end_ || !tree_.word(at_) || is_keyword(tree_.text(at_))) return false;
      one.name = at_++;
    }
    for (; next_is("["); ++one.dimensions) at_ = tree_.match[at_] + 1;  // int a[3]
    one.init_begin = one.init_end = at_;
    if (next_is("=") || next_is(":")) {
      out_.range = next_is(":");
      one.init_begin = ++at_;
      while (at_ < end_ && (out_.range || !next_is(","))) step();
      one.init_end = at_;
      if (one.init_begin == one.init_end) return false;
    } else if (next_is("{") || next_is("(")) {
      one.constructs = true;
      one.init_begin = at_ + 1;
      one.init_end = tree_.match[at_];
      at_ = tree_.match[at_] + 1;
    }
    out_.list.push_back(one);
    return at_ >= end_ || next_is(",");
  }

  // Over one token of an initializer, brackets and template arguments as a whole.
  void step() {
    if (next_is("<") && at_ > 0 && tree_.word(at_ - 1)) {
      const size_t behind = behind_template(tree_, at_, end_);
      if (behind != at_ && behind < end_ &&
          (tree_.is(behind, "(") || tree_.is(behind, "{") || tree_.is(behind, "::"))) {
        at_ = behind;
        return;
      }
    }
    at_ = tree_.skip(at_);
  }

  Declarators binding() {
    const size_t close = tree_.match[at_];
    for (size_t i = at_ + 1; i < close; ++i) {
      if (!tree_.word(i)) continue;
      Declarator one;
      one.name = i;
      out_.list.push_back(one);
    }
    at_ = close + 1;
    out_.binding = true;
    out_.range = next_is(":");
    size_t begin = at_ + 1, end = end_;
    if (!next_is("=") && !next_is(":")) {
      if (!next_is("{") && !next_is("(")) return {};
      end = tree_.match[at_];
    }
    for (Declarator& one : out_.list) {
      one.init_begin = begin;
      one.init_end = end;
      one.indirect = indirect_;
    }
    return std::move(out_);
  }

 public:
  // `auto& [a, b]`: the mark stands between type and names.
  Declarators read_binding_or_other() {
    const size_t begin = at_;
    const size_t end = end_;
    if (head() && out_.type == "auto") {
      const Declarator mark = marks();
      if (next_is("[")) {
        indirect_ = mark.indirect;
        return binding();
      }
    }
    at_ = begin;
    end_ = end;
    out_ = {};
    return read();
  }

 private:
  const Tree& tree_;
  size_t at_, end_;
  bool indirect_ = false;
  Declarators out_;
};

}  // namespace

size_t behind_template(const Tree& tree, size_t open, size_t end) {
  int depth = 0;
  for (size_t i = open; i < end && i < open + kMaxTemplate;) {
    const Text text = tree.tokens[i].text;
    if (text == "<") ++depth;
    if (text == ">") --depth;
    if (text == ">>") depth -= 2;
    if (depth <= 0) return depth == 0 ? i + 1 : open;
    const TokenKind kind = tree.tokens[i].kind;
    const bool fits = kind == TokenKind::kWord || kind == TokenKind::kNumber || text == "<" || text == ">" ||
                      text == ">>" || text == "::" || text == "," || text == "*" || text == "&" ||
                      text == "&&" || text == "(" || text == "[" || text == "..." || text == "-";
    if (!fits) return open;
    i = text == "(" || text == "[" ? tree.match[i] + 1 : i + 1;
  }
  return open;
}

Declarators declarators(const Tree& tree, size_t begin, size_t end) {
  return Reader(tree, begin, end).read_binding_or_other();
}

Declarators parameter(const Tree& tree, size_t begin, size_t end) {
  return Reader(tree, begin, end).parameter();
}

}  // namespace flor::probes
