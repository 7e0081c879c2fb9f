#include "core/policy/retention.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "core/base/parse_number.h"
#include "core/store/timeline.h"

namespace flor::core {
namespace {

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Orders scope paths as the program reaches them: loops in the order of first appearance, iterations by
// value.
class ProgramOrder {
 public:
  using Key = std::vector<std::pair<std::size_t, int64_t>>;

  explicit ProgramOrder(const std::vector<std::string>& loops) {
    for (const auto& name : loops) ranks_.try_emplace(name, ranks_.size());
  }

  Key key_of(std::string_view at) {
    Key out;
    while (!at.empty()) {
      const auto slash = at.find('/');
      const std::string_view element = at.substr(0, slash);
      const auto equals = element.rfind('=');
      if (equals != std::string_view::npos) {
        const auto rank = ranks_.try_emplace(std::string(element.substr(0, equals)), ranks_.size());
        out.emplace_back(rank.first->second, parse_number<int64_t>(element.substr(equals + 1)).value_or(-1));
      }
      at.remove_prefix(slash == std::string_view::npos ? at.size() : slash + 1);
    }
    return out;
  }

 private:
  std::map<std::string, std::size_t> ranks_;
};

// Selects the newest `keep` of each kind, and the entries of loops. A resumed program reaches earlier places
// again; these are not newer than what came after them.
std::set<std::string> chosen(const std::vector<StoredCheckpoint>& stored, int64_t keep,
                             const std::vector<std::string>& loops) {
  ProgramOrder order(loops);
  std::vector<std::pair<ProgramOrder::Key, const StoredCheckpoint*>> sorted;
  for (const auto& one : stored)
    if (!one.retired) sorted.emplace_back(order.key_of(one.at), &one);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::map<std::string, int64_t> counts;
  std::set<std::string> files, places;
  for (auto next = sorted.rbegin(); next != sorted.rend(); ++next) {
    const StoredCheckpoint& one = *next->second;
    if (!places.insert(one.at).second) continue;  // taken again since
    if (is_loop_entry(one.at) || one.on_node || ++counts[one.kind] <= keep) files.insert(one.file);
  }
  return files;
}

}  // namespace

bool is_loop_entry(const std::string& at) {
  // No static object: exit() would destroy it, and the last checkpoints become durable after that.
  constexpr std::string_view mark = "=entry/@iteration";
  return at.size() > mark.size() && at.compare(at.size() - mark.size(), mark.size(), mark) == 0;
}

Thinning removable(const std::vector<StoredCheckpoint>& stored, int64_t keep,
                   const std::vector<std::string>& loops) {
  Thinning out;
  if (keep <= 0) return out;
  const std::set<std::string> kept = chosen(stored, keep, loops);
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
  // They are older than what this attempt has already written.
  stored_.insert(stored_.begin(), earlier.begin(), earlier.end());
}

// One that went straight to the store may refer to files that are still on the node.
bool Retention::is_in_store(const StoredCheckpoint& one) const {
  return actions_.in_store(one.file) &&
         std::all_of(one.refers_to.begin(), one.refers_to.end(), actions_.in_store);
}

void Retention::durable(StoredCheckpoint checkpoint) {
  if (keep_ <= 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  checkpoint.retired = doubted_.erase(checkpoint.file) > 0;
  stored_.push_back(std::move(checkpoint));
  for (auto& one : stored_) one.on_node = one.on_node && !is_in_store(one);
  Thinning removal = removable(stored_, keep_, loops_);
  // A file that a checkpoint may still refer to stays. It is tried again with the next checkpoint.
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
