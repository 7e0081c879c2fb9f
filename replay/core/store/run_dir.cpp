// The files of a run and of a replay (docs/formats.md).
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "core/base/digest.h"
#include "core/base/parse_number.h"
#include "core/files/directory.h"
#include "core/files/existence.h"
#include "core/files/trusted_file.h"
#include "core/store/liveness.h"
#include "core/store/store.h"

namespace flor::core {
namespace {

// Pads to six digits, so that files are listed in order.
std::string numbered(int64_t id) {
  std::string number = std::to_string(id);
  if (number.size() < 6) number.insert(0, 6 - number.size(), '0');
  return number;
}

// A file name has at most 255 bytes, and suffixes and temporary names need some of them.
std::string bounded(const std::string& name) {
  constexpr std::size_t most = 180;
  constexpr std::size_t kept = 140;
  return name.size() <= most ? name : name.substr(0, kept) + "~" + digest_of(name);
}

// Returns what a directory of a run holds: nothing where there is none, where it is closed to this user, or
// is a link, which another user may have put there. Throws std::filesystem::filesystem_error.
std::vector<DirectoryEntry> seen_entries(const fs::path& directory) {
  std::error_code error;
  auto out = entries_of(directory, error);
  if (error && !is_no_directory(error) && error != std::errc::permission_denied)
    throw fs::filesystem_error("cannot list", directory, error);
  return out;
}

// Is a directory of the replay a link? Paths in it would lead out of the run.
bool has_links(const ReplayDir& replay) {
  for (const auto& directory : {replay.units(), replay.workers(), replay.proofs()}) {
    struct stat info = {};
    if (::lstat(directory.c_str(), &info) == 0 && S_ISLNK(info.st_mode)) return true;
  }
  return false;
}

// Returns when the plan was written, in nanoseconds. Returns std::nullopt where there is none, or where it is
// closed to this user. One that a failed file server hides is the newest: it is listed, so that who reads it
// says so.
std::optional<int64_t> time_of_plan(const ReplayDir& replay) {
  struct stat info = {};
  if (::lstat(replay.plan().c_str(), &info) == 0) {
    // Its owner may set any time.
    constexpr int64_t second = 1'000'000'000, most = std::numeric_limits<int64_t>::max() / second - 1;
    return std::clamp(int64_t{info.st_mtim.tv_sec}, -most, most) * second + info.st_mtim.tv_nsec;
  }
  if (errno == ENOENT || errno == ENOTDIR || errno == EACCES) return std::nullopt;
  return std::numeric_limits<int64_t>::max();
}

}  // namespace

fs::path ReplayDir::unit(int64_t id) const {
  return units() / (numbered(id) + ".jsonl");
}

fs::path ReplayDir::again(int64_t id, const std::string& digest) const {
  return path / "again" / (numbered(id) + "-" + digest + ".jsonl");
}

std::multimap<int64_t, fs::path> ReplayDir::all_again() const {
  std::multimap<int64_t, fs::path> out;
  const fs::path folder = path / "again";
  for (const auto& [file, is_link] : seen_entries(folder)) {
    const std::string name = file.filename().string();
    // Earlier versions wrote one file a unit, without a digest.
    const auto id = parse_number<int64_t>(name.substr(0, name.find_first_of("-.")));
    if (id && file.extension() == ".jsonl") out.emplace(*id, file);
  }
  return out;
}

fs::path ReplayDir::ending(int64_t unit) const {
  return workers() / ("ending-" + numbered(unit));
}

fs::path ReplayDir::proof(int64_t id) const {
  return proofs() / (numbered(id) + ".json");
}

fs::path ReplayDir::proof_rows(int64_t id) const {
  return proofs() / (numbered(id) + ".jsonl");
}

fs::path RunDir::checkpoint_file(const std::string& block, const std::string& stem, int64_t attempt) {
  const std::string mark = attempt == 0 ? "" : "@" + std::to_string(attempt);
  return fs::path("checkpoints") / bounded(block) / (bounded(stem) + mark + ".safetensors");
}

int64_t RunDir::attempt_of(const std::string& checkpoint_file) {
  const std::string stem = fs::path(checkpoint_file).stem().string();
  const auto mark = stem.rfind('@');
  return mark == std::string::npos ? 0 : parse_number<int64_t>(stem.substr(mark + 1)).value_or(0);
}

ReplayDir RunDir::replay(const std::string& id) const {
  require_id("replay id", id);
  return {replays() / id};
}

std::vector<ReplayDir> RunDir::all_replays() const {
  // Each time is read once: the owner may change it while others sort by it.
  std::vector<std::pair<int64_t, fs::path>> dated;
  if (!is_there(replays())) return {};
  const bool foreign = is_foreign(path);
  for (const auto& [replay, is_link] : seen_entries(replays())) {
    // Flor makes none here. One replay by many names would be read as often.
    if (is_link || (foreign && has_links({replay}))) continue;
    if (const auto planned = time_of_plan({replay})) dated.emplace_back(*planned, replay);
  }
  std::sort(dated.begin(), dated.end());
  std::vector<ReplayDir> out;
  out.reserve(dated.size());
  for (auto& [planned, path] : dated) out.push_back({std::move(path)});
  return out;
}

bool RunDir::is_being_recorded() const {
  return liveness_of(*this).life == Life::live;
}

}  // namespace flor::core
