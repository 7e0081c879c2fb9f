#include "core/retention.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "core/timeline.h"

namespace flor::core {
namespace {

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The newest `keep` of each kind, and the loops' entries.
std::set<std::string> chosen(const std::vector<StoredCheckpoint>& stored, int64_t keep) {
  std::map<std::string, int64_t> counts;
  std::set<std::string> files;
  for (auto one = stored.rbegin(); one != stored.rend(); ++one) {
    if (one->retired) continue;
    if (is_loop_entry(one->at) || ++counts[one->kind] <= keep) files.insert(one->file);
  }
  return files;
}

}  // namespace

std::vector<std::string> referred_files(const CheckpointHeader& header, const std::string& file) {
  std::set<std::string> files;
  for (const auto& tensor : header.tensors) {
    if (!tensor.file.empty() && tensor.file != file) files.insert(tensor.file);
  }
  return {files.begin(), files.end()};
}

bool is_loop_entry(const std::string& at) {
  // No object that exit() destroys: the last checkpoints become durable behind that.
  constexpr std::string_view mark = "=entry/@iteration";
  return at.size() > mark.size() && at.compare(at.size() - mark.size(), mark.size(), mark) == 0;
}

Thinning removable(const std::vector<StoredCheckpoint>& stored, int64_t keep) {
  Thinning out;
  if (keep <= 0) return out;
  const std::set<std::string> kept = chosen(stored, keep);
  std::set<std::string> staying = kept;
  for (const auto& one : stored) {
    if (kept.count(one.file) != 0) staying.insert(one.refers_to.begin(), one.refers_to.end());
  }
  for (const auto& one : stored) {
    if (kept.count(one.file) != 0) continue;
    if (staying.count(one.file) == 0) {
      (one.retired ? out.orphans : out.files).push_back(one.file);
      continue;
    }
    const bool whole = std::all_of(one.refers_to.begin(), one.refers_to.end(),
                                   [&](const auto& file) { return staying.count(file) != 0; });
    if (!whole && !one.retired) out.retired.push_back(one.file);
  }
  return out;
}

void Retention::doubt(const std::vector<std::string>& files) {
  if (keep_ <= 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& file : files) {
    const auto at =
        std::find_if(stored_.begin(), stored_.end(), [&](const auto& one) { return one.file == file; });
    if (at != stored_.end()) {
      at->retired = true;
    } else {
      doubted_.insert(file);
    }
  }
}

void Retention::adopt(const std::vector<StoredCheckpoint>& earlier) {
  if (keep_ <= 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  stored_.insert(stored_.end(), earlier.begin(), earlier.end());
}

void Retention::durable(StoredCheckpoint checkpoint) {
  if (keep_ <= 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  checkpoint.retired = doubted_.erase(checkpoint.file) > 0;
  stored_.push_back(std::move(checkpoint));
  Thinning removal = removable(stored_, keep_);
  // One that something may yet refer to stays for now, and is asked for again with the next checkpoint.
  const auto stays = [this](const std::string& file) { return !actions_.forget(file); };
  auto& files = removal.files;
  files.erase(std::remove_if(files.begin(), files.end(), stays), files.end());
  auto& orphans = removal.orphans;
  orphans.erase(std::remove_if(orphans.begin(), orphans.end(), stays), orphans.end());

  std::vector<std::string> rows;
  for (const auto& one : stored_) {
    const bool held = contains(removal.retired, one.file);
    if (held || contains(files, one.file)) rows.push_back(removed_row(one.file, one.at, held).dump());
  }
  if (!rows.empty() && !actions_.note(rows)) return;  // the disk refuses: nothing is removed, either
  for (auto& one : stored_) one.retired = one.retired || contains(removal.retired, one.file);
  files.insert(files.end(), orphans.begin(), orphans.end());
  for (const auto& file : files) actions_.remove(file);
  const auto gone = [&](const StoredCheckpoint& one) { return contains(files, one.file); };
  stored_.erase(std::remove_if(stored_.begin(), stored_.end(), gone), stored_.end());
}

}  // namespace flor::core
