#include "gc/leftovers.h"

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "gc/acting_as.h"
#include "gc/launches.h"
#include "gc/remove_tree.h"
#include "gc/runs.h"
#include "gc/thin.h"

namespace flor::gc {
namespace {

namespace fs = core::fs;

constexpr double patience = 3600;  // seconds

std::optional<pid_t> pid_from(std::string_view text) {
  const auto pid = core::parse_number<pid_t>(text);
  return pid && *pid > 0 ? pid : std::nullopt;
}

// The process that a file is named for.
std::optional<pid_t> process_in(std::string_view name) {
  static constexpr std::string_view temporary = ".tmp.";
  static constexpr std::string_view proof = ".writable.";  // of earlier versions
  if (name.empty() || name.front() != '.') return std::nullopt;
  if (name.rfind(proof, 0) == 0) return pid_from(name.substr(proof.size()));
  const auto at = name.rfind(temporary);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view tail = name.substr(at + temporary.size());
  return pid_from(tail.substr(0, tail.find('.')));
}

// Made for a moment to ask the file server for its time (core/store/liveness.cpp).
bool is_clock(const std::string& name) {
  return name.rfind(".time.", 0) == 0;
}

bool is_old(const fs::path& path, double now) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 && now - static_cast<double>(info.st_mtime) > patience;
}

Leftover leftover(const fs::path& path, const std::string& what) {
  std::error_code ignored;
  if (fs::is_directory(fs::symlink_status(path, ignored))) return {path, "", bytes_below(path), what};
  const auto size = fs::file_size(path, ignored);
  return {path, "", ignored ? 0 : size, what};
}

void add_temporaries(const fs::path& directory, double now, std::vector<Leftover>& out) {
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if ((is_abandoned(name) || is_clock(name)) && is_old(entry.path(), now))
      out.push_back(leftover(entry.path(), "a temporary file of a process that is gone"));
  }
}

void add_checkpoints(const core::RunDir& run, std::vector<Leftover>& out) {
  try {
    for (const auto& file : inventory_of(run).useless)
      out.push_back(leftover(run.path / file, "a checkpoint that nothing names"));
  } catch (const core::Error&) {
    // Damage is `flor check`'s to tell; here it means that nobody knows what is needed.
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(run.checkpoints(), ignored)) {
    if (entry.is_directory(ignored) && fs::is_empty(entry.path(), ignored))
      out.push_back(leftover(entry.path(), "an empty directory"));
  }
}

std::vector<Leftover> left_in(const core::RunDir& run, double now) {
  std::vector<Leftover> out;
  std::error_code ignored;
  add_temporaries(run.path, now, out);
  if (fs::exists(run.path / ".reserve", ignored))
    out.push_back(leftover(run.path / ".reserve", "space that the recording had set aside"));
  add_checkpoints(run, out);
  for (const auto& entry : fs::directory_iterator(run.replays(), ignored)) {
    if (entry.is_directory(ignored) && is_old(entry.path(), now) &&
        !fs::exists(entry.path() / "plan.json", ignored))
      out.push_back(leftover(entry.path(), "a replay that never got a plan"));
  }
  for (auto& one : out) one.run = run.id();
  return out;
}

}  // namespace

bool is_abandoned(const std::string& name) {
  const auto process = process_in(name);
  return process && ::kill(*process, 0) != 0 && errno == ESRCH;
}

std::vector<Leftover> leftovers_of(const core::RunDir& run, double now) {
  if (!is_ours(run.path)) return {};  // it has just gone
  const ActingAs owner(run.path);
  return busy_with(run).empty() ? left_in(run, now) : std::vector<Leftover>{};
}

void remove_leftovers(const core::RunDir& run, const std::vector<Leftover>& listed) {
  const ActingAs owner(run.path);
  const core::FileLock lock = claim(run);
  for (const auto& leftover : left_in(run, core::wall_seconds())) {
    const bool agreed = std::any_of(listed.begin(), listed.end(),
                                    [&](const Leftover& one) { return one.path == leftover.path; });
    if (!agreed) continue;
    std::error_code error;
    if (leftover.path.parent_path() == run.replays()) {
      remove_tree(leftover.path);
    } else {
      fs::remove(leftover.path, error);
    }
    // An agent may have put a checkpoint there just now.
    if (error && error != std::errc::directory_not_empty)
      throw std::system_error(error, "cannot remove " + leftover.path.string());
  }
}

std::vector<Leftover> leftovers_of(const core::Store& store, double now) {
  std::vector<Leftover> out;
  for (const auto& id : store.all_removed()) {
    if (is_ours(store.removed(id)))
      out.push_back(leftover(store.removed(id), "a run whose removal was cut off"));
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(store.path(), ignored)) {
    const fs::path& path = entry.path();
    const std::string name = path.filename().string();
    if (!is_ours(path) || !is_old(path, now)) continue;
    std::optional<ActingAs> owner;
    try {
      owner.emplace(path);
    } catch (const core::Error&) {
      continue;  // it has just gone
    }
    if (is_abandoned(name) || is_clock(name)) {
      out.push_back(leftover(path, "a temporary file of a process that is gone"));
    } else if (core::is_valid_id(name) && entry.is_directory(ignored) &&
               fs::exists(fs::symlink_status(path / "run.lock", ignored)) &&
               !fs::exists(fs::symlink_status(path / "run.json", ignored)) && busy_with({path}).empty()) {
      out.push_back(leftover(path, "a recording that was killed before it began"));
    }
  }
  for (const auto& launch : ended_launches(store, now))
    out.push_back(leftover(launch, "a launch whose job is over and whose run is gone"));
  std::sort(out.begin(), out.end(), [](const Leftover& a, const Leftover& b) { return a.path < b.path; });
  return out;
}

}  // namespace flor::gc
