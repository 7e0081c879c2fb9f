// Which units of a replay are done, learned with few looks at the store: a listing of units/ names every unit
// that was ever done, on a metadata server that others use, too.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "core/store/plan.h"
#include "core/store/store.h"
#include "results/look_pace.h"

namespace flor::results {

// Selected units whose files are there, in order: one listing, however many there are.
std::vector<int64_t> units_done(const core::ReplayDir& replay, const core::Plan& plan);

// Not thread-safe. `plan` must outlive it.
class UnitsDone {
 public:
  UnitsDone(core::ReplayDir replay, const core::Plan& plan);

  // The queue says that the unit is done. Believed until a listing that begins later does not name it.
  void tell(int64_t unit);
  // Lists where it is time for that: seldom while the queue tells (`told`) what is done, and at once when it
  // says that all are; else by LookPace.
  void look(bool told);
  void list();

  std::size_t size() const { return size_; }
  bool contains(int64_t unit) const;
  double work() const { return work_; }  // of those that are done, in estimated seconds
  // Has a listing named every selected unit?
  bool all_are_listed() const { return listed_ == selected_; }

 private:
  bool add(int64_t unit);
  void doubt_all_but(const std::vector<int64_t>& listed);

  core::ReplayDir replay_;
  const core::Plan& plan_;
  std::vector<bool> done_;  // by unit
  std::size_t selected_, size_ = 0, listed_ = 0;
  double work_ = 0;
  std::set<int64_t> doubted_;  // that the queue told and no listing has named yet
  LookPace pace_, told_pace_;
};

}  // namespace flor::results
