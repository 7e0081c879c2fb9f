#include "results/attempts.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace flor::results {
namespace {

bool is_in_kept_iteration(const KeptEvent& event, const std::string& at) {
  const auto elements = scope_elements(at);
  return !elements.empty() && elements.front().loop && elements.front().name == event.loop &&
         elements.front().value < event.before;
}

// Does a row at `at` belong to a step that the event keeps? Example: "epoch=3/train#0/step=12/…" does, for
// the loop "epoch=3/train#0/step" before 13.
bool is_in_kept_step(const KeptEvent& event, const std::string& at) {
  if (at.size() <= event.at.size() || at[event.at.size()] != '=') return false;
  const auto elements = scope_elements(std::string_view(at).substr(event.at.rfind('/') + 1));
  return elements.front().value < event.before;
}

class Splice {
 public:
  explicit Splice(std::vector<Row> earlier) : earlier_(std::move(earlier)) {
    Ordinals ordinals;
    for (std::size_t i = 0; i < earlier_.size(); ++i) {
      const Row& row = earlier_[i];
      places_[key(row, ordinals)] = i;
      by_path_[row.at].push_back(i);
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

  void keep(const KeptEvent& event) {
    std::vector<std::size_t> kept;
    const auto add = [&kept](const auto& rows) { kept.insert(kept.end(), rows.begin(), rows.end()); };
    if (event.at.empty()) {
      for (const auto& [at, rows] : by_path_) {
        if (is_in_kept_iteration(event, at)) add(rows);
      }
    } else {
      for (auto path = by_path_.lower_bound(event.at);
           path != by_path_.end() && path->first.compare(0, event.at.size(), event.at) == 0; ++path) {
        if (event.before > 0 ? is_in_kept_step(event, path->first) : lies_in(path->first, event.at))
          add(path->second);
      }
    }
    std::sort(kept.begin(), kept.end());
    for (const std::size_t i : kept) {
      out_.push_back(earlier_[i]);
      reach(i + 1);
    }
  }

  std::vector<Row> earlier_, out_;
  std::unordered_map<std::string, std::size_t> places_;
  std::map<std::string, std::vector<std::size_t>> by_path_;
  std::size_t reached_ = 0;  // the later attempt has reached the place before this earlier row
};

}  // namespace

std::vector<Row> spliced(std::vector<Attempt> attempts) {
  std::vector<Row> rows;
  for (auto& attempt : attempts) rows = Splice(std::move(rows)).with(std::move(attempt));
  return rows;
}

}  // namespace flor::results
