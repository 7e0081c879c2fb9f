#include "probes/rules/step_checks.h"

#include <vector>

#include "probes/cxx/access_paths.h"
#include "probes/cxx/blocks.h"
#include "probes/rules/changes.h"

namespace flor::probes {
namespace {

bool is_inside_a_loop(const Tree& tree, int node) {
  for (int up = tree.node(node).parent; up >= 0; up = tree.node(up).parent) {
    if (tree.node(up).kind == NodeKind::kLoop) return true;
  }
  return false;
}

// May another loop be around it? What is not main may be called in one.
bool may_be_inside_a_loop(const Tree& tree, int node) {
  if (is_inside_a_loop(tree, node)) return true;
  const int function = function_around(tree, node);
  return function < 0 || tree.node(function).name != "main";
}

bool names_loop(const Tree& tree, const Node& node) {
  for (std::size_t token = node.begin; token < node.head_end; ++token) {
    if (tree.word(token) && tree.is(token, "loop")) return true;
  }
  return false;
}

// Returns the loops over steps: each flor::loop that may run inside another loop. If no head of a loop shows
// one, returns each loop inside another.
std::vector<int> step_loops(const Tree& tree) {
  std::vector<int> nested, named;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const int index = static_cast<int>(i);
    if (tree.nodes[i].kind != NodeKind::kLoop) continue;
    if (is_inside_a_loop(tree, index)) nested.push_back(index);
    if (names_loop(tree, tree.nodes[i]) && may_be_inside_a_loop(tree, index)) named.push_back(index);
  }
  return named.empty() ? nested : named;
}

// What the arguments of flor::checkpointing hold, in front of a loop, back to the start of the loop around
// it.
std::set<std::string> held_in_front(const Tree& tree, int loop) {
  std::set<std::string> names;
  for (int at = loop; at >= 0 && (at == loop || tree.node(at).kind != NodeKind::kLoop);
       at = tree.node(at).parent) {
    for (int left = tree.previous_sibling(at); left >= 0; left = tree.previous_sibling(left)) {
      const Node& node = tree.node(left);
      if (node.kind != NodeKind::kLeaf) continue;
      for (std::size_t token = node.begin; token + 1 < node.end; ++token) {
        if (!tree.is(token, "checkpointing") || !tree.is(token + 1, "(")) continue;
        names.merge(held_by_arguments(tree, token + 2, tree.match[token + 1]));
      }
    }
  }
  return names;
}

}  // namespace

std::set<std::string> unrestored_between_steps(const Tree& tree) {
  std::set<std::string> names;
  for (const int loop : step_loops(tree))
    names.merge(variables_of(changed_beside(tree, loop, held_in_front(tree, loop))));
  return names;
}

}  // namespace flor::probes
