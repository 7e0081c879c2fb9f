#include "results/rows/attempts.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"

namespace flor::results {
namespace {

// A recording names each row about once. A log that another user made up may do otherwise, so that its reader
// would never come to an end.
constexpr std::size_t most_visits_a_row = 100;
// Rows of earlier attempts, summed over all attempts: five hundred attempts with a million rows each.
constexpr std::size_t most_steps = 500'000'000;

// Does a row at `at` belong to a step that the event keeps? Example: "epoch=3/train#0/step=12/…" does, for
// the loop "epoch=3/train#0/step" before 13.
bool is_in_kept_step(const KeptEvent& event, const std::string& at) {
  if (at.size() <= event.at.size() || at[event.at.size()] != '=') return false;
  const auto elements = scope_elements(std::string_view(at).substr(event.at.rfind('/') + 1));
  return elements.front().value < event.before;
}

class Splice {
 public:
  explicit Splice(std::vector<Row> earlier) : earlier_(std::move(earlier)), is_kept_(earlier_.size()) {
    Ordinals ordinals;
    for (std::size_t i = 0; i < earlier_.size(); ++i) {
      const Row& row = earlier_[i];
      places_[key(row, ordinals)] = i;
      by_path_[row.at].push_back(i);
      const auto elements = scope_elements(row.at);
      if (!elements.empty() && elements.front().loop)
        by_iteration_[std::string(elements.front().name)][elements.front().value].push_back(i);
    }
  }

  std::vector<Row> with(Attempt later) {
    Ordinals ordinals;
    for (auto& entry : later.entries) {
      if (auto* row = std::get_if<Row>(&entry)) {
        // Of a run that was never resumed, no row needs a key.
        const auto at = places_.empty() ? places_.end() : places_.find(key(*row, ordinals));
        if (at != places_.end()) reach(at->second + 1);
        out_.push_back(std::move(*row));
      } else {
        keep(std::get<KeptEvent>(entry));
      }
    }
    if (!later.ended)
      out_.insert(out_.end(), earlier_.begin() + static_cast<std::ptrdiff_t>(reached_), earlier_.end());
    return std::move(out_);
  }

 private:
  static std::string key(const Row& row, Ordinals& ordinals) {
    return row.at + '\n' + row.name + '\n' + std::to_string(ordinals.next(row.at, row.name));
  }

  void reach(std::size_t position) { reached_ = std::max(reached_, position); }

  // Each row is kept once, however often events name it: a log of n lines has at most n rows.
  void keep(const KeptEvent& event) {
    std::vector<std::size_t> kept = event.at.empty() ? take_iterations(event) : take_paths(event);
    std::sort(kept.begin(), kept.end());
    for (const std::size_t i : kept) {
      if (is_kept_[i]) continue;
      is_kept_[i] = true;
      out_.push_back(earlier_[i]);
      reach(i + 1);
    }
  }

  std::vector<std::size_t> take_iterations(const KeptEvent& event) {
    std::vector<std::size_t> rows;
    auto& iterations = by_iteration_[event.loop];
    const auto end = iterations.lower_bound(event.before);
    for (auto at = iterations.begin(); at != end; ++at)
      rows.insert(rows.end(), at->second.begin(), at->second.end());
    iterations.erase(iterations.begin(), end);
    return rows;
  }

  std::vector<std::size_t> take_paths(const KeptEvent& event) {
    std::vector<std::size_t> rows;
    auto path = by_path_.lower_bound(event.at);
    while (path != by_path_.end() && path->first.compare(0, event.at.size(), event.at) == 0) {
      if (++visits_ > most_visits_a_row * (earlier_.size() + 1))
        throw core::Error("its events name the same rows again and again; no recording writes that");
      if (event.before > 0 ? is_in_kept_step(event, path->first) : lies_in(path->first, event.at)) {
        rows.insert(rows.end(), path->second.begin(), path->second.end());
        path = by_path_.erase(path);
      } else {
        ++path;
      }
    }
    return rows;
  }

  std::vector<Row> earlier_, out_;
  std::unordered_map<std::string, std::size_t> places_;
  // Rows that no event has named yet.
  std::map<std::string, std::vector<std::size_t>> by_path_;
  // By the name of the outermost loop and its value.
  std::unordered_map<std::string, std::map<int64_t, std::vector<std::size_t>>> by_iteration_;
  std::vector<bool> is_kept_;
  std::size_t visits_ = 0;   // of paths that events name
  std::size_t reached_ = 0;  // the later attempt has reached the place before this earlier row
};

}  // namespace

std::vector<Row> spliced(std::vector<Attempt> attempts, bool foreign) {
  std::vector<Row> rows;
  std::size_t steps = 0;
  for (auto& attempt : attempts) {
    // One that was ended at once changes nothing.
    if (attempt.entries.empty() && !attempt.ended) continue;
    steps += rows.size();
    if (foreign && steps > most_steps)
      throw core::Error("it has " + std::to_string(attempts.size()) + " attempts, too many for its length");
    rows = Splice(std::move(rows)).with(std::move(attempt));
  }
  return rows;
}

}  // namespace flor::results
