// Finds where rows of a record lie relative to the main loop, and which recorded row a replayed row repeats.
// Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/store/manifest.h"
#include "results/rows/rows.h"

namespace flor::results {

enum class Side { before, within, after };  // of the main loop

// The record log, indexed. Rows outside all loops are before or after the main loop, by their position among
// the rows of the main loop. If the record has no row in the main loop this is unknown (`splits()` is false).
class Record {
 public:
  Record(std::vector<Row> rows, const core::Manifest& manifest);

  const std::vector<Row>& rows() const { return rows_; }
  Side side(std::size_t row) const { return sides_[row]; }
  // Returns the iteration of the main loop that a row within it belongs to.
  int64_t iteration(std::size_t row) const { return iterations_[row]; }
  bool splits() const { return splits_; }

  // Returns the iteration of the main loop that a path lies in.
  std::optional<int64_t> iteration_of(const std::string& at) const;
  // Returns the step of the inner loop that a path lies in.
  std::optional<int64_t> step_of(const std::string& at) const;
  // Results of part_of() for rows before or after all steps.
  static constexpr int64_t in_front = -1, behind = std::numeric_limits<int64_t>::max();
  // Returns where in its iteration a row lies: its step, in_front, or behind. Returns nullopt if the record
  // has no row in a step of that iteration to compare with.
  std::optional<int64_t> part_of(std::size_t row) const;
  // Returns the side of a path that lies in another outermost loop.
  std::optional<Side> other_loop(const std::string& at) const;

  std::optional<std::size_t> find(Side side, const std::string& at, const std::string& name,
                                  int64_t ordinal) const;
  int64_t count(Side side, const std::string& at, const std::string& name) const;
  // Returns true if the record has the name at this place of the program, in any iteration.
  bool has(const std::string& at, const std::string& name) const;

  // Returns the position of the first row in `iteration`, at step `from` (-1: anywhere in it) or later.
  std::size_t start_of(int64_t iteration, int64_t from = -1) const;
  // Returns the position of the first row after the main loop.
  std::size_t behind_loop() const { return behind_; }

 private:
  // The rows in steps of an iteration: from the first to after the last.
  struct Steps {
    std::size_t first = 0, end = 0;
    std::map<int64_t, std::size_t> starts;
  };
  void split();
  void split_steps();
  void index();

  std::vector<Row> rows_;
  // Name of the main loop, and path from it to its inner loop.
  std::string main_, inner_;
  std::unordered_map<std::string, Side> others_;  // the other outermost loops
  std::vector<Side> sides_;
  std::vector<int64_t> iterations_;
  bool splits_ = false;
  std::size_t behind_ = 0;
  std::map<int64_t, std::size_t> starts_;
  std::map<int64_t, Steps> steps_;
  std::unordered_map<std::string, std::size_t> by_key_;
  Ordinals counts_[3];
  std::unordered_set<std::string> patterns_;
};

// How a replayed row relates to the record.
struct Found {
  // The recorded row that it repeats.
  std::optional<std::size_t> recorded;
  // The record has no such name at this place of the program, so it is a row of a probe.
  bool added = false;
  // It lies in an iteration that does not belong to its unit.
  bool strayed = false;
};

// Finds the recorded row of each replayed row. Give units in order, and the entries of each in order.
class Matcher {
 public:
  Matcher(const Record& record, int64_t last_unit) : record_(record), last_unit_(last_unit) {}

  void begin(const UnitLog& unit);
  Found find(const Row& row);
  void see(const BlockEvent& event);
  void see(const BeforeEvent& event) { within_.skip(event.at, event.name, event.count); }
  void see_loop_end() { behind_ = true; }
  // Returns the side of the main loop on which a row with this path lies, at the present place of the unit.
  Side side_of(const std::string& at) const;

 private:
  bool belongs(const std::string& at) const;
  Side bucket(Side side) const { return side == Side::within || record_.splits() ? side : Side::before; }
  void align_with_end();

  const Record& record_;
  int64_t last_unit_;
  const UnitLog* unit_ = nullptr;
  // Entries outside the main loop are after it from here on.
  bool behind_ = false;
  bool saw_first_unit_ = false;
  // By side.
  Ordinals within_, outside_[3];
};

}  // namespace flor::results
