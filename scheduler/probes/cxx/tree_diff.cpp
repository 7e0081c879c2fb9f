#include "probes/cxx/tree_diff.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "probes/cxx/prints.h"

namespace flor::probes {
namespace {

constexpr size_t kMaxCells = size_t{1} << 22;  // of all comparisons of lists of one file

// Hashes token ranges in constant time (a polynomial over the tokens before). Equal ranges have equal hashes.
class RangeHash {
 public:
  explicit RangeHash(const Tree& tree)
      : prefix_(tree.tokens.size() + 1, 0), power_(tree.tokens.size() + 1, 1) {
    for (size_t i = 0; i < tree.tokens.size(); ++i) {
      prefix_[i + 1] = prefix_[i] * kBase + (tree.tokens[i].text.hash() | 1U);
      power_[i + 1] = power_[i] * kBase;
    }
  }
  [[nodiscard]] uint64_t of(size_t begin, size_t end) const {
    return prefix_[end] - prefix_[begin] * power_[end - begin];
  }

 private:
  static constexpr uint64_t kBase = 0x9E3779B97F4A7C15;
  std::vector<uint64_t> prefix_, power_;
};

// Returns how well two nodes match.
enum Score : uint32_t { kNone = 0, kOtherName = 1, kSameHead = 2, kEqual = 3 };

class Differ {
 public:
  Differ(const Tree& recorded, const Tree& present) : a_(recorded), b_(present), hash_a_(a_), hash_b_(b_) {}

  std::vector<Edit> run() {
    lists(0, 0);
    return std::move(edits_);
  }

 private:
  [[nodiscard]] bool same(size_t a_begin, size_t a_end, size_t b_begin, size_t b_end) const {
    if (a_end - a_begin != b_end - b_begin) return false;
    return hash_a_.of(a_begin, a_end) == hash_b_.of(b_begin, b_end) &&
           same_tokens(a_, a_begin, a_end, b_, b_begin, b_end);
  }

  [[nodiscard]] Score score(int recorded, int present) const {
    const Node& a = a_.node(recorded);
    const Node& b = b_.node(present);
    if (a.kind != b.kind) return kNone;
    if (same(a.begin, a.end, b.begin, b.end)) return kEqual;
    if (a.kind == NodeKind::kLeaf && same_but_const(a, b)) return kEqual;
    if (a.kind == NodeKind::kLeaf && same_but_printed_text(a_, a, b_, b)) return kEqual;
    const bool compound = a.kind != NodeKind::kLeaf && a.kind != NodeKind::kDirective;
    if (compound && same(a.begin, a.head_end, b.begin, b.head_end)) return kSameHead;
    return other_name(a, b) ? kOtherName : kNone;
  }

  // Do they differ in nothing but a `const` that one of them begins with?
  [[nodiscard]] bool same_but_const(const Node& a, const Node& b) const {
    const size_t a_begin = a.begin + (a_.is(a.begin, "const") ? 1 : 0);
    const size_t b_begin = b.begin + (b_.is(b.begin, "const") ? 1 : 0);
    if (a.end > a_begin && same(a_begin, a.end, b_begin, b.end)) return true;
    return same_unbraced(a_begin, a.end, b_begin, b.end);
  }

  // `x = {e};` is `x = e;`.
  [[nodiscard]] bool same_unbraced(size_t a_begin, size_t a_end, size_t b_begin, size_t b_end) const {
    if (b_end - b_begin != a_end - a_begin + 2) return false;
    size_t i = a_begin, j = b_begin, brace = 0;
    while (i < a_end && j < b_end) {
      const bool opens =
          brace == 0 && j > b_begin && b_.is(j, "{") && b_.is(j - 1, "=") && b_.match[j] + 2 == b_end;
      if (opens) brace = b_.match[j++];
      if (j == brace && brace != 0) ++j;
      if (a_.text(i++) != b_.text(j++)) return false;
    }
    return brace != 0 && i == a_end && j == b_end;
  }

  // Do the two differ in nothing but the literal of one `SkipBlock NAME{"literal"`?
  [[nodiscard]] bool other_name(const Node& a, const Node& b) const {
    const size_t length = a.head_end - a.begin;
    if (length != b.head_end - b.begin) return false;
    size_t different = length;
    for (size_t i = 0; i < length; ++i) {
      if (a_.text(a.begin + i) == b_.text(b.begin + i)) continue;
      if (different != length) return false;
      different = i;
    }
    std::string name;
    return different != length && different >= 3 && a_.is(a.begin + different - 3, "SkipBlock") &&
           plain_string(a_.tokens[a.begin + different], &name) &&
           plain_string(b_.tokens[b.begin + different], &name);
  }

  // Compares the children of two nodes that pair.
  void lists(int recorded, int present) {
    const std::vector<int>& a = a_.node(recorded).children;
    const std::vector<int>& b = b_.node(present).children;
    size_t front = 0;
    while (front < a.size() && front < b.size() && score(a[front], b[front]) == kEqual) ++front;
    size_t a_end = a.size(), b_end = b.size();
    while (a_end > front && b_end > front && score(a[a_end - 1], b[b_end - 1]) == kEqual) --a_end, --b_end;
    const size_t rows = a_end - front, columns = b_end - front;
    if (rows != 0 && columns > cells_left_ / rows) {
      edits_.push_back({EditKind::kTooMany, recorded, present, b_.line(b[front]), 0, 0});
      return;
    }
    cells_left_ -= rows * columns;
    const std::vector<uint32_t> best = table(a, b, front, rows, columns);
    size_t i = 0, j = 0;
    while (i < rows || j < columns) {
      const auto at = [&](size_t row, size_t column) { return best[row * (columns + 1) + column]; };
      const Score pair = i < rows && j < columns ? score(a[front + i], b[front + j]) : kNone;
      if (pair != kNone && at(i, j) == at(i + 1, j + 1) + pair) {
        paired(pair, a[front + i++], b[front + j++]);
      } else if (i < rows && at(i, j) == at(i + 1, j)) {
        edits_.push_back({EditKind::kRemoved, a[front + i++], -1, line_at(present, front + j), 0, 0});
      } else {
        const int added = b[front + j++];
        edits_.push_back({EditKind::kAdded, -1, added, b_.line(added), 0, 0});
      }
    }
  }

  // best[i][j]: the highest sum of scores that pairs of a[i…] and b[j…] in order can reach.
  [[nodiscard]] std::vector<uint32_t> table(const std::vector<int>& a, const std::vector<int>& b,
                                            size_t front, size_t rows, size_t columns) const {
    std::vector<uint32_t> best((rows + 1) * (columns + 1), 0);
    for (size_t i = rows; i-- > 0;) {
      for (size_t j = columns; j-- > 0;) {
        const size_t cell = i * (columns + 1) + j;
        const size_t below = cell + columns + 1;
        const Score pair = score(a[front + i], b[front + j]);
        const uint32_t paired = pair == kNone ? 0 : best[below + 1] + pair;
        best[cell] = std::max({best[below], best[cell + 1], paired});
      }
    }
    return best;
  }

  void paired(Score pair, int recorded, int present) {
    if (pair == kOtherName) edits_.push_back({EditKind::kRenamed, recorded, present, b_.line(present), 0, 0});
    if (pair != kEqual) lists(recorded, present);
  }

  // Returns the line of the present file before which something was removed from this list.
  [[nodiscard]] int line_at(int parent, size_t child) const {
    const Node& node = b_.node(parent);
    if (child < node.children.size()) return b_.line(node.children[child]);
    if (b_.tokens.empty()) return 1;
    return b_.tokens[std::min(node.end, b_.tokens.size()) - 1].line;
  }

  const Tree& a_;
  const Tree& b_;
  RangeHash hash_a_, hash_b_;
  size_t cells_left_ = kMaxCells;
  std::vector<Edit> edits_;
};

// Returns the ranges of `more` that `less` does not have, if they are whole statements inside braces. Nothing
// if the two differ in another way.
std::vector<std::pair<size_t, size_t>> insertions(const Tree& less, const Node& a, const Tree& more,
                                                  const Node& b) {
  std::vector<std::pair<size_t, size_t>> out;
  size_t i = a.begin, j = b.begin;
  while (j < b.end) {
    if (i < a.end && less.text(i) == more.text(j)) {
      ++i, ++j;
      continue;
    }
    // Back to where a statement may begin, and on over one statement.
    size_t begin = j, back = i;
    while (begin > b.begin && !more.is(begin - 1, ";") && !more.is(begin - 1, "{") &&
           !more.is(begin - 1, "}"))
      --begin, --back;
    if (begin == b.begin || back < a.begin) return {};
    size_t end = begin;
    while (end < b.end && !more.is(end, ";") && !more.is(end, "{"))
      end = more.is(end, "(") || more.is(end, "[") ? more.match[end] + 1 : end + 1;
    if (end >= b.end) return {};
    end = more.is(end, "{") ? more.match[end] + 1 : end + 1;
    if (end > b.end || out.size() > 50) return {};
    out.emplace_back(begin, end);
    i = back;
    j = end;
  }
  return i == a.end ? out : std::vector<std::pair<size_t, size_t>>{};
}

}  // namespace

std::vector<Edit> within_statements(const Tree& recorded, const Tree& present, std::vector<Edit> edits) {
  std::vector<Edit> out;
  std::vector<bool> done(edits.size(), false);
  for (size_t r = 0; r < edits.size(); ++r) {
    if (edits[r].kind != EditKind::kRemoved) continue;
    const Node& a = recorded.node(edits[r].recorded);
    for (size_t p = 0; p < edits.size() && !done[r]; ++p) {
      if (edits[p].kind != EditKind::kAdded || done[p]) continue;
      const Node& b = present.node(edits[p].present);
      if (a.kind != NodeKind::kLeaf || b.kind != NodeKind::kLeaf) continue;
      const auto added = insertions(recorded, a, present, b);
      const auto removed = added.empty() ? insertions(present, b, recorded, a) : added;
      if (removed.empty()) continue;
      done[r] = done[p] = true;
      for (const auto& [begin, end] : removed) {
        Edit one = added.empty() ? edits[r] : edits[p];
        one.begin = begin;
        one.end = end;
        if (!added.empty()) one.line = present.tokens[begin].line;
        out.push_back(one);
      }
    }
  }
  for (size_t i = 0; i < edits.size(); ++i) {
    if (!done[i]) out.push_back(edits[i]);
  }
  std::stable_sort(out.begin(), out.end(), [](const Edit& a, const Edit& b) { return a.line < b.line; });
  return out;
}

std::vector<Edit> diff(const Tree& recorded, const Tree& present) {
  return Differ(recorded, present).run();
}

}  // namespace flor::probes
