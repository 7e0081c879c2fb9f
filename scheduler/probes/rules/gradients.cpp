#include "probes/rules/gradients.h"

#include "probes/cxx/blocks.h"

namespace flor::probes {
namespace {

// Does it run wherever what stands behind it runs?
bool certain(const Tree& tree, const Node& node) {
  if (node.kind != NodeKind::kLeaf) {
    return node.kind == NodeKind::kLoop || node.kind == NodeKind::kPlain || !node.block.empty();
  }
  // `if (ok) loss.backward();`
  for (const char* word : {"if", "else", "for", "while", "do", "case", "default", "switch"}) {
    if (tree.is(node.begin, word)) return false;
  }
  return true;
}

bool calls(const Tree& tree, const Node& node, const std::set<std::string>& names) {
  for (std::size_t i = node.begin; i + 1 < node.end; ++i) {
    if (tree.word(i) && tree.is(i + 1, "(") && names.count(tree.text(i)) != 0) return true;
  }
  return false;
}

}  // namespace

GradientSource gradients_read(const Tree& tree, int node, const std::set<std::string>& backward) {
  GradientSource source;
  for (int at = node; at > 0 && tree.node(at).kind != NodeKind::kFunction; at = tree.node(at).parent) {
    for (int left = tree.previous_sibling(at); left >= 0; left = tree.previous_sibling(left)) {
      const Node& sibling = tree.node(left);
      const std::vector<int> inner = blocks_in(tree, left);
      if (inner.empty() && certain(tree, sibling) && calls(tree, sibling, backward)) return source;
      if (!inner.empty() && !certain(tree, sibling)) source.clear = false;  // it may not have run
      source.blocks.insert(source.blocks.end(), inner.begin(), inner.end());
    }
    const int parent = tree.node(at).parent;
    if (parent < 0 || tree.node(parent).kind != NodeKind::kLoop) continue;
    if (!blocks_in(tree, parent).empty()) break;
    source.earlier_step = true;
  }
  if (source.blocks.empty()) source.clear = false;
  return source;
}

}  // namespace flor::probes
