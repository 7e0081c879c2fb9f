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
#include "core/files/existence.h"
#include "core/files/shared_directory.h"
#include "gc/acting_as.h"
#include "gc/launches.h"
#include "gc/remove_tree.h"
#include "gc/runs.h"
#include "gc/thin.h"
#include "gc/walk.h"

namespace flor::gc {
namespace {

namespace fs = core::fs;

constexpr double patience = 3600;  // seconds

std::optional<pid_t> pid_from(std::string_view text) {
  const auto pid = core::parse_number<pid_t>(text);
  return pid && *pid > 0 ? pid : std::nullopt;
}

// Returns the process that created the temporary file `name`; nullopt if the name is not of that form.
std::optional<pid_t> process_in(std::string_view name) {
  static constexpr std::string_view temporary = ".tmp.";
  static constexpr std::string_view proof = ".writable.";  // of earlier versions
  if (name.empty() || name.front() != '.') return std::nullopt;
  if (name.rfind(proof, 0) == 0) {
    if (const auto pid = pid_from(name.substr(proof.size()))) return pid;
  }
  const auto at = name.rfind(temporary);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view tail = name.substr(at + temporary.size());
  return pid_from(tail.substr(0, tail.find('.')));
}

// Returns true for a file that was created to read the file server's clock (core/store/liveness.cpp).
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

// The entries of a directory; none of a link, which could lead out of the run.
fs::directory_iterator entries_of(const fs::path& directory) {
  std::error_code ignored;
  return fs::is_directory(fs::symlink_status(directory, ignored)) ? fs::directory_iterator(directory, ignored)
                                                                  : fs::directory_iterator();
}

bool is_real_directory(const fs::directory_entry& entry) {
  std::error_code ignored;
  return fs::is_directory(entry.symlink_status(ignored));
}

void add_temporaries(const fs::path& directory, double now, std::vector<Leftover>& out) {
  walk(directory, [&](const Entry& entry) {
    if ((is_abandoned(entry.name) || is_clock(entry.name)) && is_old(entry.path, now))
      out.push_back(leftover(entry.path, "a temporary file of a process that is gone"));
  });
}

void add_checkpoints(const core::RunDir& run, std::vector<Leftover>& out) {
  try {
    for (const auto& file : inventory_of(run).useless)
      out.push_back(leftover(run.path / file, "a checkpoint that nothing names"));
  } catch (const core::Error&) {
    // The run is damaged, so it is unknown which files are needed. `flor check` reports the damage.
  }
  std::error_code ignored;
  for (const auto& entry : entries_of(run.checkpoints())) {
    if (is_real_directory(entry) && fs::is_empty(entry.path(), ignored))
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
  for (const auto& entry : entries_of(run.replays())) {
    if (is_real_directory(entry) && is_old(entry.path(), now) && !core::is_there(entry.path() / "plan.json"))
      out.push_back(leftover(entry.path(), "a replay that never got a plan"));
  }
  for (auto& one : out) one.run = run.id();
  return out;
}

// Returns RUN for a path STORE/.removed.RUN, and "" for any other.
std::string removed_run(const fs::path& path) {
  static const std::string prefix = ".removed.";
  const std::string name = path.filename().string();
  if (name.rfind(prefix, 0) != 0) return "";
  std::string id = name.substr(prefix.size());
  return core::is_valid_id(id) ? id : "";
}

// Returns true if a recording created the directory, and ended before it wrote its manifest.
bool never_began(const fs::path& path) {
  if (!core::is_valid_id(path.filename().string()) || core::directory_owner(path) == core::no_user ||
      !closed_below(path).empty())
    return false;
  const core::RunDir run{path};
  return core::existence_of(run.lock()) == true && core::is_absent(run.manifest()) && busy_with(run).empty();
}

// Returns this entry of a store as a leftover; nullopt if it is none, or if another user owns it.
std::optional<Leftover> left_in_store(const fs::path& path, double now) {
  if (!is_ours(path)) return std::nullopt;
  const bool is_removed = !removed_run(path).empty();
  if (!is_removed && !is_old(path, now)) return std::nullopt;
  try {
    const ActingAs owner(path);
    const std::string name = path.filename().string();
    if (is_removed) return leftover(path, "a run whose removal was cut off");
    if (is_abandoned(name) || is_clock(name))
      return leftover(path, "a temporary file of a process that is gone");
    if (never_began(path)) return leftover(path, "a recording that was killed before it began");
  } catch (const core::Error&) {
    // It has just gone.
  }
  return std::nullopt;
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
  const Claim held = claim(run);
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
    // A directory that is not empty any more is no error: an agent may have put a checkpoint there just now.
    if (error && error != std::errc::directory_not_empty)
      throw std::system_error(error, "cannot remove " + leftover.path.string());
  }
}

std::vector<Leftover> leftovers_of(const core::Store& store, double now) {
  std::vector<Leftover> out;
  std::error_code ignored;
  for (fs::directory_iterator at(store.path(), ignored), end; at != end; at.increment(ignored)) {
    if (auto found = left_in_store(at->path(), now)) out.push_back(std::move(*found));
  }
  for (const auto& launch : ended_launches(store, now))
    out.push_back(leftover(launch, "a launch whose job is over and whose run is gone"));
  std::sort(out.begin(), out.end(), [](const Leftover& a, const Leftover& b) { return a.path < b.path; });
  return out;
}

void remove_leftover(const core::Store& store, const Leftover& leftover, double now) {
  if (leftover.path.parent_path() != store.path()) return remove_ended_launch(store, leftover.path, now);
  if (!left_in_store(leftover.path, now)) return;
  if (const std::string id = removed_run(leftover.path); !id.empty()) return finish_removal(store, id);
  const ActingAs owner(leftover.path);
  remove_tree(leftover.path);
}

}  // namespace flor::gc
