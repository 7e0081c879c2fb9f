#include "results/units_done.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/base/parse_number.h"
#include "core/files/directory.h"

namespace flor::results {
namespace {

constexpr std::chrono::milliseconds soon(100), late(15000), seldom(30000);

std::vector<int64_t> listed(const core::ReplayDir& replay, const core::Plan& plan, std::error_code& error) {
  // Opening the directory also makes an NFS client ask the server again.
  std::vector<int64_t> done;
  for (const auto& [path, is_link] : core::entries_of(replay.units(), error)) {
    const auto id = core::parse_number<int64_t>(path.stem().string());
    if (id && path == replay.unit(*id) && plan.selected.contains(*id)) done.push_back(*id);
  }
  std::sort(done.begin(), done.end());
  return done;
}

}  // namespace

std::vector<int64_t> units_done(const core::ReplayDir& replay, const core::Plan& plan) {
  std::error_code ignored;
  return listed(replay, plan, ignored);
}

std::vector<int64_t> units_surely_done(const core::ReplayDir& replay, const core::Plan& plan) {
  std::error_code error;
  auto done = listed(replay, plan, error);
  if (error && !core::is_no_directory(error) && error != std::errc::permission_denied)
    throw core::fs::filesystem_error("cannot list", replay.units(), error);
  return done;
}

UnitsDone::UnitsDone(core::ReplayDir replay, const core::Plan& plan)
    : replay_(std::move(replay)),
      plan_(plan),
      done_(plan.units.size()),
      selected_(plan.selected.size()),
      pace_(soon, late),
      told_pace_(seldom, seldom) {}

bool UnitsDone::contains(int64_t unit) const {
  return unit >= 0 && static_cast<std::size_t>(unit) < done_.size() && done_[static_cast<std::size_t>(unit)];
}

bool UnitsDone::add(int64_t unit) {
  if (contains(unit) || !plan_.selected.contains(unit)) return false;
  done_.at(static_cast<std::size_t>(unit)) = true;
  work_ += plan_.units.at(static_cast<std::size_t>(unit)).work;
  ++size_;
  return true;
}

void UnitsDone::tell(int64_t unit) {
  if (!add(unit) || size_ < selected_) return;
  pace_.hurry();
  told_pace_.hurry();
}

void UnitsDone::look(bool told) {
  const bool trust = told && doubted_.empty();
  if ((trust ? told_pace_ : pace_).is_due(PollPace::Clock::now())) list();
}

void UnitsDone::doubt_all_but(const std::vector<int64_t>& listed) {
  for (std::size_t unit = 0; unit < done_.size(); ++unit) {
    if (done_[unit]) doubted_.insert(static_cast<int64_t>(unit));
  }
  for (const int64_t unit : listed) doubted_.erase(unit);
  if (doubted_.empty()) return;
  done_.assign(done_.size(), false);
  size_ = 0;
  work_ = 0;
}

void UnitsDone::list() {
  const auto begun = PollPace::Clock::now();
  const auto listed = units_done(replay_, plan_);
  const bool changed = listed.size() != listed_;
  doubt_all_but(listed);
  for (const int64_t unit : listed) add(unit);
  listed_ = listed.size();
  const auto took = PollPace::Clock::now() - begun;
  pace_.polled(begun, took, changed);
  told_pace_.polled(begun, took, changed);
}

}  // namespace flor::results
