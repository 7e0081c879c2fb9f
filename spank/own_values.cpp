#include "own_values.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace flor::spank {
namespace {

// The text is one line of words: what separates the words, and their parts, is escaped in values.
constexpr const char* kSpecial = "% =\t\r\n\v\f";

std::string escaped(const std::string& value) {
  std::string out;
  for (const char c : value) {
    if (std::string(kSpecial).find(c) == std::string::npos) {
      out += c;
    } else {
      char code[4];
      std::snprintf(code, sizeof code, "%%%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += code;
    }
  }
  return out;
}

std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
    } else {
      out += static_cast<char>(std::strtoul(text.substr(at + 1, 2).c_str(), nullptr, 16));
      at += 2;
    }
  }
  return out;
}

}  // namespace

OwnValues OwnValues::from(const std::string& text) {
  OwnValues out;
  std::istringstream words(text);
  words >> out.job_;
  for (std::string word; words >> word;) {
    const auto first = word.find('=');
    const auto second = word.find('=', first == std::string::npos ? first : first + 1);
    // Only the variables of Flor's, and the two that it sets for Python: whatever the text says, no other one
    // is changed by it.
    const std::string name = word.substr(0, first);
    const bool is_pythons = name == "PYTHONPATH" || name == "PYTHONHASHSEED";
    if (second == std::string::npos || (name.rfind("FLOR_", 0) != 0 && !is_pythons)) return {};
    out.values_.push_back(
        {name, unescaped(word.substr(first + 1, second - first - 1)), unescaped(word.substr(second + 1))});
  }
  return out;
}

std::string OwnValues::text() const {
  std::string out = job_;
  for (const auto& value : values_)
    out += " " + value.name + "=" + escaped(value.set) + "=" + escaped(value.before);
  return out;
}

void OwnValues::note(const std::string& name, const std::string& present, const std::string& value) {
  const auto known =
      std::find_if(values_.begin(), values_.end(), [&](const Value& each) { return each.name == name; });
  if (known == values_.end()) {
    values_.push_back({name, value, present});
    return;
  }
  if (present != known->set) known->before = present;
  known->set = value;
}

std::vector<OwnValues::Value> OwnValues::unchanged(const Environment& environment) const {
  std::vector<Value> out;
  for (const auto& value : values_)
    if (environment(value.name.c_str()) == value.set) out.push_back(value);
  return out;
}

}  // namespace flor::spank
