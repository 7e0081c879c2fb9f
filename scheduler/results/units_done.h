// Finds out which units of a replay are done, with few listings of units/.
// Motivation: a listing names every unit that is done, and takes time of a metadata server that others use,
// too.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "core/store/plan.h"
#include "core/store/store.h"
#include "results/poll_pace.h"

namespace flor::results {

// Returns the selected units whose files exist, in order, from one listing. What cannot be listed now counts
// as not done yet.
std::vector<int64_t> units_done(const core::ReplayDir& replay, const core::Plan& plan);

// The same for who reports it: throws std::filesystem::filesystem_error where the directory cannot be listed,
// as where its file server fails, unless it is missing or closed to this user.
std::vector<int64_t> units_surely_done(const core::ReplayDir& replay, const core::Plan& plan);

// Not thread-safe. `plan` must outlive it.
class UnitsDone {
 public:
  UnitsDone(core::ReplayDir replay, const core::Plan& plan);

  // Notes that the queue reports the unit as done. It counts until a later listing does not name it.
  void tell(int64_t unit);
  // Lists if it is time: rarely while the queue reports which units are done (`told`), at once when it has
  // reported all, else by PollPace.
  void look(bool told);
  // Lists now.
  void list();

  std::size_t size() const { return size_; }
  bool contains(int64_t unit) const;
  // Estimated seconds of the units that are done.
  double work() const { return work_; }
  // Returns true if a listing named every selected unit.
  bool all_are_listed() const { return listed_ == selected_; }

 private:
  bool add(int64_t unit);
  void doubt_all_but(const std::vector<int64_t>& listed);

  core::ReplayDir replay_;
  const core::Plan& plan_;
  std::vector<bool> done_;  // by unit
  std::size_t selected_, size_ = 0, listed_ = 0;
  double work_ = 0;
  // Reported by the queue, not listed yet.
  std::set<int64_t> doubted_;
  PollPace pace_, told_pace_;
};

}  // namespace flor::results
