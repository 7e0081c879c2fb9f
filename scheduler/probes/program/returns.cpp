#include "probes/program/returns.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "probes/cxx/declarators.h"
#include "probes/cxx/library.h"

namespace flor::probes {
namespace {

template <size_t N>
bool is_one_of(const Tree& tree, size_t token, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return tree.is(token, word); });
}

// Words around a type that say nothing about what is returned.
bool is_specifier(const Tree& tree, size_t token) {
  static constexpr std::array<std::string_view, 17> kSpecifiers = {
      "static", "inline",  "virtual",   "constexpr", "const", "friend",   "explicit", "typename", "extern",
      "public", "private", "protected", ":",         "final", "override", "noexcept", "volatile"};
  return is_one_of(tree, token, kSpecifiers);
}

// The marks of what is another name of something.
bool is_indirect(const Tree& tree, size_t token) {
  static constexpr std::array<std::string_view, 3> kMarks = {"&", "&&", "*"};
  return is_one_of(tree, token, kMarks);
}

// Behind `template <…>`, attributes and words that say nothing.
size_t type_begin(const Tree& tree, size_t begin, size_t end) {
  while (begin < end) {
    if (tree.is(begin, "template") && tree.is(begin + 1, "<")) {
      const size_t behind = behind_template(tree, begin + 1, end);
      if (behind == begin + 1) return begin;
      begin = behind;
    } else if (tree.is(begin, "[") || is_specifier(tree, begin)) {
      begin = tree.skip(begin);
    } else {
      return begin;
    }
  }
  return end;
}

}  // namespace

Returns returns_as(const Tree& tree, size_t begin, size_t end, const Vocabulary& words) {
  begin = type_begin(tree, begin, end);
  if (begin == end) return Returns::kValue;
  bool copy = true;
  for (size_t i = begin; i < end; ++i) {
    if (is_indirect(tree, i)) return Returns::kReference;
    if (!tree.word(i) || is_specifier(tree, i) || tree.is(i, "std")) continue;
    const std::string& word = words.resolved(tree.text(i));
    if (words.classes.count(word) != 0) return Returns::kReference;  // it may keep references
    const bool tensors =
        tree.is(i, "torch") || tree.is(i, "at") || tree.is(i, "Tensor") || tree.is(i, "auto");
    const bool number = is_plain_type(word) || (is_container_type(word) && !is_view_type(word));
    if (!tensors && !number) return Returns::kReference;
    copy = copy && !tensors;
  }
  return copy ? Returns::kCopy : Returns::kValue;
}

Returns returns_of(const Tree& tree, size_t begin, size_t open, size_t body, const Vocabulary& words) {
  const size_t parameters_end = tree.match[open] + 1;
  const size_t trailing = trailing_type(tree, parameters_end, body);
  if (trailing < body) return returns_as(tree, trailing, body, words);
  size_t name = open;  // where it begins, with its class
  for (size_t i = begin; i < open; ++i) {
    if (tree.is(i, "operator")) name = i + 1;
  }
  name -= 1;
  while (name >= begin + 2 && tree.is(name - 1, "::") && tree.word(name - 2)) name -= 2;
  // Without a type, as a constructor or a conversion, or with a class that is a template.
  if (name <= begin || type_begin(tree, begin, name) >= name) return Returns::kReference;
  return returns_as(tree, begin, name, words);
}

size_t trailing_type(const Tree& tree, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i = tree.skip(i)) {
    if (tree.is(i, ":")) return end;
    if (tree.is(i, "->")) return i + 1;
  }
  return end;
}

}  // namespace flor::probes
