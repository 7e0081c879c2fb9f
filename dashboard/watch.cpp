#include "dashboard/watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "core/base/clock.h"
#include "core/base/printable.h"
#include "core/files/descriptor.h"
#include "core/store/plan.h"
#include "dashboard/data/runs.h"
#include "dashboard/data/series.h"
#include "dashboard/terminal/screen.h"
#include "dashboard/terminal/terminal.h"
#include "results/report/summary.h"
#include "results/work.h"

namespace flor::dashboard {
namespace {

using core::Json;

constexpr auto watch_every = std::chrono::milliseconds(500);
// Of the curve of one name. More would not fit on a line.
constexpr std::size_t most_curve_points = 1000;

Json replay_of(const core::ReplayDir& replay, int64_t attempt) {
  const auto summary = results::summarize_replay(replay, attempt);
  Json out = results::to_json(summary);
  if (summary.verdict || !summary.failure.empty() || !results::goes_on(replay)) return out;
  const double now = core::wall_seconds();
  const auto work = results::read_work(replay);
  out["work"] = results::to_json(work, results::totals_of(work, core::read_plan(replay), now));
  out["work"]["now"] = now;
  return out;
}

Json detail_of(const core::RunDir& run, RowCache& cache) {
  Json out{{"line", run_line(run)}, {"replays", Json::array()}, {"series", Json::array()}};
  const int64_t attempt = core::read_manifest(run).attempt;
  for (const auto& replay : run.all_replays()) out["replays"].push_back(replay_of(replay, attempt));
  const auto rows = cache.rows_of(run);
  std::set<std::string> names;
  for (const auto& row : rows->rows) {
    if (!names.insert(row.name).second) continue;
    const Series series = series_of(rows->rows, row.name);
    const double infinity = std::numeric_limits<double>::infinity();
    out["series"].push_back(
        {{"name", row.name}, {"y", to_json(thinned(series, -infinity, infinity, most_curve_points))["y"]}});
  }
  return out;
}

// Looks at the store on a thread of its own.
class Looker {
 public:
  Looker(const core::Store& store, const std::optional<core::RunDir>& run) : runs_(store), run_(run) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
      throw std::system_error(errno, std::generic_category(), "pipe");
    read_ = core::Descriptor(ends[0]);
    write_ = core::Descriptor(ends[1]);
    thread_ = std::thread([this] { work(); });
  }
  ~Looker() {
    is_over_ = true;
    thread_.join();
  }
  Looker(const Looker&) = delete;
  Looker& operator=(const Looker&) = delete;

  // Becomes readable when there is something new.
  int news() const { return read_.get(); }
  // Returns what is known now, in the form of screen_of_runs() or screen_of_run(); null before the first
  // look.
  Json latest() {
    char byte = 0;
    while (::read(read_.get(), &byte, 1) > 0) {
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    return latest_;
  }
  // Why the last look failed; "" if it did not.
  std::string trouble() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return trouble_;
  }

 private:
  void look() {
    Json now;
    std::string trouble;
    try {
      now = run_ ? detail_of(*run_, cache_) : (runs_.refresh(), runs_.snapshot());
    } catch (const std::exception& problem) {
      trouble = problem.what();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (trouble == trouble_ && (now == latest_ || !trouble.empty())) return;
    trouble_ = trouble;
    if (trouble.empty()) latest_ = std::move(now);
    if (::write(write_.get(), "x", 1) < 0) return;  // full: the reader is awake already
  }

  void work() {
    while (!is_over_) {
      look();
      for (auto left = watch_every; left.count() > 0 && !is_over_; left -= std::chrono::milliseconds(20))
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  Runs runs_;
  const std::optional<core::RunDir> run_;
  RowCache cache_;
  core::Descriptor read_, write_;
  std::atomic<bool> is_over_{false};
  std::mutex mutex_;
  Json latest_;
  std::string trouble_;
  std::thread thread_;
};

// Returns false where the user ends it.
bool take(char key, View& view, std::size_t pages) {
  if (view.is_typing) {
    if (key == '\n' || key == '\r' || key == '\x1b') view.is_typing = false;
    if (key == '\x7f' || key == '\b') view.filter.resize(view.filter.empty() ? 0 : view.filter.size() - 1);
    if (static_cast<unsigned char>(key) >= ' ' && key != '\x7f') view.filter += key;
    view.page = 0;
    return true;
  }
  if (key == '/') view.is_typing = true;
  if (key == 'n' || key == ' ') view.page = std::min(view.page + 1, pages - 1);
  if (key == 'p' && view.page > 0) view.page -= 1;
  return key != 'q';
}

void draw(Looker& looker, bool is_one_run, const std::function<bool()>& stopped) {
  Terminal terminal;
  View view;
  view.is_utf8 = Terminal::is_utf8();
  Json latest = looker.latest();
  while (!stopped()) {
    std::tie(view.width, view.height) = terminal.size();
    Screen screen{{"looking at the store…"}, 1};
    if (!latest.is_null()) screen = is_one_run ? screen_of_run(latest, view) : screen_of_runs(latest, view);
    if (const std::string trouble = looker.trouble(); !trouble.empty())
      screen.lines.back() = core::printable(trouble).substr(0, view.width);
    terminal.show(screen.lines);
    const auto key = terminal.key(std::chrono::milliseconds(200), looker.news());
    if (key == '\0' || (key && !take(*key, view, screen.pages))) return;
    latest = looker.latest();
  }
}

void print_changes(const core::Store& store, const std::optional<core::RunDir>& run,
                   const std::function<bool()>& stopped) {
  Runs runs(store);
  std::string before;
  while (!stopped() && std::cout) {
    bool is_over = false;
    if (run) {
      const Json line = run_line(*run);
      const std::string now = line_of_run(line);
      if (now != before) std::cout << now << std::endl;
      before = now;
      is_over = line.value("status", "") != "recording";
    } else if (const Json changes = runs.refresh(); !changes.is_null()) {
      for (const auto& one : changes["changed"]) std::cout << line_of_run(one) << std::endl;
    }
    if (is_over) return;
    std::this_thread::sleep_for(watch_every);
  }
}

}  // namespace

void watch(const core::Store& store, const std::optional<core::RunDir>& run,
           const std::function<bool()>& stopped) {
  if (!Terminal::is_one()) {
    print_changes(store, run, stopped);
    return;
  }
  Looker looker(store, run);
  draw(looker, run.has_value(), stopped);
}

}  // namespace flor::dashboard
