// Where the program is: the loops and blocks around the present statement, named as in docs/formats.md,
// "Scope paths". Identity comes from names, values and ordinals, never from a count of executions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace flor::core {

// Letters, digits, `_`, `.`, `-`; anything else becomes `_`. `reserved`: also keeps clear of `name` and
// `value`.
std::string clean_name(const std::string& name, bool reserved = false);

class Scope {
 public:
  Scope() : levels_(1) {}

  // Enters a loop; its first iteration begins with set_value. Returns its name with its occurrence
  // ("epoch#1").
  std::string enter_loop(const std::string& name);
  void set_value(int64_t value);  // of the innermost level, which is a loop: a new iteration
  void enter_block(const std::string& name);
  void leave();

  // The same place without the blocks around it, for a thread that goes on plain: it enters and leaves none.
  Scope without_blocks() const;

  std::size_t depth() const { return levels_.size() - 1; }
  std::string path() const { return path_of(levels_.size()); }
  // The path without its last element.
  std::string parent() const { return path_of(levels_.size() - 1); }
  // Name and ordinal of the innermost block level.
  const std::string& name() const { return levels_.back().name; }
  int64_t ordinal() const { return levels_.back().ordinal; }
  // The loops around, outermost first.
  std::vector<std::pair<std::string, int64_t>> loops() const;

 private:
  struct Level {
    std::string name;
    bool loop = false;
    bool iterating = false;
    int64_t value = 0;                                  // of a loop
    int64_t ordinal = 0;                                // of a block
    std::vector<std::pair<std::string, int64_t>> seen;  // children since the iteration began
  };
  int64_t occurrence(const std::string& key);
  std::string path_of(std::size_t levels) const;

  std::vector<Level> levels_;  // [0] is the program
};

// The stem of a checkpoint's file: the scope path of the block without its own element, `/` as `,`, and `#k`
// where its ordinal is not 0; `.rRofW` where several ranks record (world > 1).
std::string checkpoint_stem(const std::string& parent, int64_t ordinal, int64_t rank = 0, int64_t world = 1);

}  // namespace flor::core
