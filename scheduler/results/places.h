// Where the rows of a record lie around the main loop, and which recorded row a replayed row is. Pure.
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
#include "results/rows.h"

namespace flor::results {

enum class Side { before, within, after };  // of the main loop

// The record log, indexed. Rows outside of all loops are told apart, before or behind the main loop, by their
// position among the main loop's rows; a record without any row in the main loop cannot tell (`splits()` is
// false).
class Record {
 public:
  Record(std::vector<Row> rows, const core::Manifest& manifest);

  const std::vector<Row>& rows() const { return rows_; }
  Side side(std::size_t row) const { return sides_[row]; }
  int64_t iteration(std::size_t row) const {
    return iterations_[row];
  }  // of the main loop, of a row within it
  bool splits() const { return splits_; }

  // The main loop's iteration that a path lies in.
  std::optional<int64_t> iteration_of(const std::string& at) const;
  // The step of the inner loop that a path lies in.
  std::optional<int64_t> step_of(const std::string& at) const;
  // Where in its iteration a row lies: its step; in front of all steps, or behind them. Nothing where the
  // record has no row in a step of that iteration, which would tell.
  static constexpr int64_t in_front = -1, behind = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> part_of(std::size_t row) const;
  // The side of a path that lies in another outermost loop.
  std::optional<Side> other_loop(const std::string& at) const;

  std::optional<std::size_t> find(Side side, const std::string& at, const std::string& name,
                                  int64_t ordinal) const;
  int64_t count(Side side, const std::string& at, const std::string& name) const;
  // Does the record have the name in this place of the program, whatever the iteration?
  bool has(const std::string& at, const std::string& name) const;

  // The position of the first row that lies in `iteration`, in step `from` (-1: in all of it), or behind
  // that; of the first row behind the main loop.
  std::size_t start_of(int64_t iteration, int64_t from = -1) const;
  std::size_t behind_loop() const { return behind_; }

 private:
  // The rows in steps of an iteration: from the first to behind the last.
  struct Steps {
    std::size_t first = 0, end = 0;
    std::map<int64_t, std::size_t> starts;
  };
  void split();
  void split_steps();
  void index();

  std::vector<Row> rows_;
  std::string main_, inner_;  // the main loop's name, and the path from it to its inner loop
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

// What a replayed row is.
struct Found {
  std::optional<std::size_t> recorded;  // the recorded row that it repeats
  bool added = false;    // the record has no such name in this place of the program: a probe's row
  bool strayed = false;  // lies in an iteration that is not its unit's
};

// Finds the recorded row of each replayed row. Units are given in order, and in each its entries in order.
class Matcher {
 public:
  Matcher(const Record& record, int64_t last_unit) : record_(record), last_unit_(last_unit) {}

  void begin(const UnitLog& unit);
  Found find(const Row& row);
  void see(const BlockEvent& event);
  void see(const BeforeEvent& event) { within_.skip(event.at, event.name, event.count); }
  void see_loop_end() { behind_ = true; }
  // The side of the main loop on which a row of the unit's present place lies.
  Side side_of(const std::string& at) const;

 private:
  bool belongs(const std::string& at) const;
  Side bucket(Side side) const { return side == Side::within || record_.splits() ? side : Side::before; }
  void align_with_end();

  const Record& record_;
  int64_t last_unit_;
  const UnitLog* unit_ = nullptr;
  bool behind_ = false;  // what comes outside of the main loop now, comes behind it
  bool saw_first_unit_ = false;
  Ordinals within_, outside_[3];  // by side
};

}  // namespace flor::results
