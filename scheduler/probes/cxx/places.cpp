#include "probes/cxx/places.h"

namespace flor::probes {
namespace {

constexpr const char* kThis = "this.";

bool begins_with(const std::string& text, const std::string& with) {
  return text.compare(0, with.size(), with) == 0;
}

bool is_in(const std::string& place, const std::string& holder) {
  return begins_with(place, holder) && (place.size() == holder.size() || place[holder.size()] == '.');
}

std::string without_this(const std::string& place) {
  return begins_with(place, kThis) ? place.substr(std::string(kThis).size()) : place;
}

// `::a`
bool is_global(const Tree& tree, size_t begin, size_t word) {
  return tree.is(word - 1, "::") && !(word >= begin + 2 && (tree.word(word - 2) || tree.is(word - 2, ">")));
}

}  // namespace

bool is_member_access(const Tree& tree, size_t at) {
  return tree.is(at, ".") || tree.is(at, "->") || tree.is(at, "::");
}

std::string without_method(const std::string& place) {
  return place.substr(0, place.rfind('.'));
}

std::string place_at(const Tree& tree, size_t word, size_t end, size_t& behind) {
  const bool own = tree.is(word, "this");
  std::string place = tree.text(word);
  size_t at = word + 1;
  for (; at + 1 < end && is_member_access(tree, at) && tree.word(at + 1); at += 2) {
    const bool pointer = tree.is(at, "->") && !(own && at == word + 1);
    place += (pointer ? ".*." : ".") + tree.text(at + 1);
    // `this->Base::a` is "this.a".
    if (own && tree.is(at + 2, "::")) place = "this";
  }
  behind = at;
  return place;
}

std::set<std::string> places_in(const Tree& tree, size_t begin, size_t end) {
  std::set<std::string> places;
  for (size_t at = begin; at < end; ++at) {
    if (!tree.word(at) || tree.is(at, "std") ||
        (at > begin && is_member_access(tree, at - 1) && !is_global(tree, begin, at)))
      continue;
    size_t behind = 0;
    const std::string place = place_at(tree, at, end, behind);
    places.insert(tree.is(behind, "(") ? without_method(place) : place);
  }
  return places;
}

std::string source_text(std::string place) {
  for (size_t at = place.find(".*."); at != std::string::npos; at = place.find(".*."))
    place.replace(at, 3, "->");
  if (place.size() > 2 && place.compare(place.size() - 2, 2, ".*") == 0) place.resize(place.size() - 2);
  return begins_with(place, kThis) ? "this->" + without_this(place) : place;
}

bool overlap(const std::string& place, const std::string& other) {
  const std::string a = without_this(place);
  const std::string b = without_this(other);
  return is_in(a, b) || is_in(b, a) || is_in(place, other) || is_in(other, place);
}

std::set<std::string> variables_of(const std::set<std::string>& places) {
  std::set<std::string> variables;
  for (const std::string& place : places) {
    const std::string own = without_this(place);
    variables.insert(place.substr(0, place.find('.')));
    variables.insert(own.substr(0, own.find('.')));
  }
  return variables;
}

std::set<std::string> held_by_arguments(const Tree& tree, size_t begin, size_t end) {
  std::set<std::string> held;
  for (size_t at = begin; at < end; ++at) {
    size_t argument = at;
    while (at < end && !tree.is(at, ",")) at = tree.skip(at);
    const bool pointer = tree.is(argument, "*");
    if (pointer) ++argument;
    if (argument >= at || !tree.word(argument)) continue;
    size_t behind = 0;
    const std::string place = place_at(tree, argument, at, behind);
    if (behind == at) held.insert(pointer ? place + ".*" : place);
  }
  return held;
}

bool is_held(const std::set<std::string>& held, std::string place) {
  while (held.count(place) == 0) {
    const size_t dot = place.rfind('.');
    if (dot == std::string::npos || place.compare(dot, std::string::npos, ".*") == 0) return false;
    place.resize(dot);
  }
  return true;
}

}  // namespace flor::probes
