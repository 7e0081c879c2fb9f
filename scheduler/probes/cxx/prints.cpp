#include "probes/cxx/prints.h"

#include <cctype>
#include <string>

namespace flor::probes {
namespace {

// Returns the conversions of a format in order, with `*`: "d", "*f".
std::string conversions(const std::string& format) {
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') continue;
    size_t end = i + 1;
    while (end < format.size() &&
           std::string("-+ #0123456789.*hlLqjzt").find(format[end]) != std::string::npos)
      ++end;
    if (end < format.size() && format[end] != '%') out += format.substr(i, end + 1 - i);
    i = end;
  }
  // The width of a printed value is only text, unless an argument sets it.
  std::string kept;
  for (const char c : out) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 && std::string("-+ #.").find(c) == std::string::npos)
      kept += c;
  }
  return kept;
}

bool is_text(const Token& token) {
  return token.kind == TokenKind::kString && token.text.str().front() == '"';
}

// Returns whether both have the same conversions, and none writes memory or is spelled by an escape.
bool same_format(const std::string& a, const std::string& b) {
  const std::string wanted = conversions(a);
  return wanted == conversions(b) && wanted.find_first_of("n\\") == std::string::npos;
}

}  // namespace

bool same_but_printed_text(const Tree& a, const Node& one, const Tree& b, const Node& other) {
  if (one.end - one.begin != other.end - other.begin || !a.is(one.begin, "std") || !a.is(one.begin + 1, "::"))
    return false;
  const size_t name = one.begin + 2;
  const bool stream =
      (a.is(name, "cout") || a.is(name, "cerr") || a.is(name, "clog")) && a.is(name + 1, "<<");
  const bool format = a.is(name, "printf") && a.is(name + 1, "(") && a.match[name + 1] + 2 == one.end;
  if (!stream && !format) return false;
  for (size_t i = one.begin, j = other.begin; i < one.end; ++i, ++j) {
    if (a.text(i) == b.text(j)) continue;
    if (!is_text(a.tokens[i]) || !is_text(b.tokens[j])) return false;
    const bool whole = i == name + 2 && (a.is(i + 1, ",") || a.is(i + 1, ")"));
    if (format && !(whole && same_format(a.text(i), b.text(j)))) return false;
    if (!stream) continue;
    if (!a.is(i - 1, "<<") || !(a.is(i + 1, "<<") || a.is(i + 1, ";"))) return false;
    for (size_t k = one.begin; k < i; ++k) {  // no part of an argument
      if (a.match[k] > i) return false;
    }
  }
  return true;
}

}  // namespace flor::probes
