// The files of a run and of a replay (docs/formats.md).
#include <algorithm>
#include <system_error>
#include <utility>

#include "core/base/digest.h"
#include "core/base/parse_number.h"
#include "core/files/existence.h"
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

// Does this error of a look at a plan say that there is none, or that it is closed to this user?
bool is_unplanned(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory ||
         error == std::errc::permission_denied;
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
  if (is_absent(folder)) return out;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    // Earlier versions wrote one file a unit, without a digest.
    const auto id = parse_number<int64_t>(name.substr(0, name.find_first_of("-.")));
    if (id && entry.path().extension() == ".jsonl") out.emplace(*id, entry.path());
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
  std::vector<std::pair<fs::file_time_type, fs::path>> dated;
  if (!is_there(replays())) return {};
  for (const auto& entry : fs::directory_iterator(replays(), fs::directory_options::skip_permission_denied)) {
    std::error_code unseen;
    // Flor makes none here. One replay by many names would be read as often.
    if (entry.is_symlink(unseen)) continue;
    auto planned = fs::last_write_time(ReplayDir{entry.path()}.plan(), unseen);
    if (is_unplanned(unseen)) continue;
    // Hidden by a failed file server: listed, so that who reads it says so.
    if (unseen) planned = fs::file_time_type::max();
    dated.emplace_back(planned, entry.path());
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
