// Tracks where the program is: the loops and blocks around the present statement, named as in
// docs/formats.md, "Scope paths". A place is identified by names, values and ordinals, never by a count of
// executions (docs/semantics.md, rule 7).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace flor::core {

// Keeps letters, digits, `_`, `.` and `-`; replaces any other character, and a leading `.` or `-`, by `_`. An
// empty name becomes `_`. With `reserved` appends `_` to the names `name` and `value`.
std::string clean_name(const std::string& name, bool reserved = false);

// Not thread-safe. Enter and leave loops and blocks in pairs.
class Scope {
 public:
  Scope() : levels_(1) {}

  // Enters a loop; set_value() then begins its first iteration. Returns the loop's name with its occurrence
  // ("epoch#1").
  std::string enter_loop(const std::string& name);
  // Begins an iteration of the innermost level, which must be a loop.
  void set_value(int64_t value);
  void enter_block(const std::string& name);
  void leave();

  // Returns a copy with the loops alone. For rows that are printed after the recording gave up, when blocks
  // are no longer entered and left.
  Scope without_blocks() const;

  std::size_t depth() const { return levels_.size() - 1; }
  std::string path() const { return path_of(levels_.size()); }
  // The path of the level around the innermost one.
  std::string parent() const { return path_of(levels_.size() - 1); }
  // The name and ordinal of the innermost level, which must be a block.
  const std::string& name() const { return levels_.back().name; }
  int64_t ordinal() const { return levels_.back().ordinal; }
  // The names and values of the loops around, outermost first.
  std::vector<std::pair<std::string, int64_t>> loops() const;

 private:
  struct Level {
    std::string name;
    bool loop = false;
    bool iterating = false;
    // Of a loop.
    int64_t value = 0;
    // Of a block.
    int64_t ordinal = 0;
    // How often each child occurred since the iteration began.
    std::vector<std::pair<std::string, int64_t>> seen;
  };
  int64_t occurrence(const std::string& key);
  std::string path_of(std::size_t levels) const;

  // The first level is the program.
  std::vector<Level> levels_;
};

// Returns the stem of a checkpoint's file name: the scope path `parent` with `,` for `/`, or "program" where
// it is empty; `#k` where the ordinal is not 0; `.rRofW` where several ranks record (world > 1).
std::string checkpoint_stem(const std::string& parent, int64_t ordinal, int64_t rank = 0, int64_t world = 1);

}  // namespace flor::core
