#include "probes/cxx/access_paths.h"

namespace flor::probes {
namespace {

constexpr const char* kThis = "this.";

bool begins_with(const std::string& text, const std::string& with) {
  return text.compare(0, with.size(), with) == 0;
}

bool is_in(const std::string& path, const std::string& holder) {
  return begins_with(path, holder) && (path.size() == holder.size() || path[holder.size()] == '.');
}

std::string without_this(const std::string& path) {
  return begins_with(path, kThis) ? path.substr(std::string(kThis).size()) : path;
}

// `::a`
bool is_global(const Tree& tree, size_t begin, size_t word) {
  return tree.is(word - 1, "::") && !(word >= begin + 2 && (tree.word(word - 2) || tree.is(word - 2, ">")));
}

}  // namespace

bool is_member_access(const Tree& tree, size_t at) {
  return tree.is(at, ".") || tree.is(at, "->") || tree.is(at, "::");
}

std::string without_method(const std::string& path) {
  return path.substr(0, path.rfind('.'));
}

std::string access_path_at(const Tree& tree, size_t word, size_t end, size_t& behind) {
  const bool own = tree.is(word, "this");
  std::string path = tree.text(word);
  size_t at = word + 1;
  for (; at + 1 < end && is_member_access(tree, at) && tree.word(at + 1); at += 2) {
    const bool pointer = tree.is(at, "->") && !(own && at == word + 1);
    path += (pointer ? ".*." : ".") + tree.text(at + 1);
    // `this->Base::a` is "this.a".
    if (own && tree.is(at + 2, "::")) path = "this";
  }
  behind = at;
  return path;
}

std::set<std::string> access_paths_in(const Tree& tree, size_t begin, size_t end) {
  std::set<std::string> paths;
  for (size_t at = begin; at < end; ++at) {
    if (!tree.word(at) || tree.is(at, "std") ||
        (at > begin && is_member_access(tree, at - 1) && !is_global(tree, begin, at)))
      continue;
    size_t behind = 0;
    const std::string path = access_path_at(tree, at, end, behind);
    paths.insert(tree.is(behind, "(") ? without_method(path) : path);
  }
  return paths;
}

std::string source_text(std::string path) {
  for (size_t at = path.find(".*."); at != std::string::npos; at = path.find(".*."))
    path.replace(at, 3, "->");
  if (path.size() > 2 && path.compare(path.size() - 2, 2, ".*") == 0) path.resize(path.size() - 2);
  return begins_with(path, kThis) ? "this->" + without_this(path) : path;
}

bool overlap(const std::string& path, const std::string& other) {
  const std::string a = without_this(path);
  const std::string b = without_this(other);
  return is_in(a, b) || is_in(b, a) || is_in(path, other) || is_in(other, path);
}

std::set<std::string> variables_of(const std::set<std::string>& paths) {
  std::set<std::string> variables;
  for (const std::string& path : paths) {
    const std::string own = without_this(path);
    variables.insert(path.substr(0, path.find('.')));
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
    const std::string path = access_path_at(tree, argument, at, behind);
    if (behind == at) held.insert(pointer ? path + ".*" : path);
  }
  return held;
}

bool is_held(const std::set<std::string>& held, std::string path) {
  while (held.count(path) == 0) {
    const size_t dot = path.rfind('.');
    if (dot == std::string::npos || path.compare(dot, std::string::npos, ".*") == 0) return false;
    path.resize(dot);
  }
  return true;
}

}  // namespace flor::probes
