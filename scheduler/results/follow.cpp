#include "results/follow.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "core/files/durable.h"
#include "core/files/existence.h"
#include "core/files/json_lines.h"
#include "core/files/trusted_file.h"
#include "core/store/manifest.h"
#include "results/results.h"
#include "results/units_done.h"
#include "results/verdict/probe_rows.h"

namespace flor::results {
namespace {

using core::Json;

class RecordFollower : public Follower {
 public:
  explicit RecordFollower(core::RunDir run) : run_(std::move(run)) {}

  bool ended() override {
    // A killed recording keeps its status, but no process holds its lock.
    return core::read_manifest(run_).status != "recording" || !run_.is_being_recorded();
  }

  std::vector<Row> more() override {
    std::error_code absent;
    const auto size = core::fs::file_size(run_.log(), absent);
    if (absent || size <= read_) return {};
    std::string text = core::read_part(run_.log(), read_, std::min(size - read_, core::foreign_limit));
    text.resize(text.rfind('\n') + 1);  // the rest is still being written
    read_ += text.size();
    std::vector<Row> rows;
    for (const auto& json : core::parse_json_lines(text, run_.log().string()).rows) {
      if (json.contains("@event")) continue;  // an event of a resumption
      rows.push_back(row_from(json, run_.log().string()));
    }
    return rows;
  }

 private:
  const core::RunDir run_;
  std::uintmax_t read_ = 0;  // bytes
};

class ReplayFollower : public Follower {
 public:
  ReplayFollower(core::ReplayDir replay, core::Plan plan, bool ordered)
      : replay_(std::move(replay)), plan_(std::move(plan)), ordered_(ordered), hidden_(plan_, {}) {
    if (!hidden_.nothing()) {
      const core::RunDir run{replay_.path.parent_path().parent_path()};
      record_.emplace(read_record(run).rows, core::read_manifest_and_progress(run));
    }
    for (const int64_t unit : plan_.selected.ids()) missing_.insert(unit);
  }

  bool ended() override {
    const bool failed = !failure().empty();
    if (failed) pace_.hurry();  // the next call of more() is the last one, and must list
    return failed || missing_.empty();
  }

  std::vector<Row> more() override {
    std::vector<Row> rows;
    if (ordered_) {
      while (!missing_.empty() && core::is_there(replay_.unit(*missing_.begin())))
        add(*missing_.begin(), rows);
    } else if (const auto now = PollPace::Clock::now(); pace_.is_due(now)) {
      for (const int64_t unit : units_done(replay_, plan_)) add(unit, rows);
      pace_.polled(now, PollPace::Clock::now() - now, !rows.empty());
    }
    return rows;
  }

  std::string failure() override {
    if (!core::is_there(replay_.failure())) return "";
    const Json json = core::parse_json(
        core::read_file(replay_.failure(), core::document_limit, core::foreign_document_limit));
    return core::field<std::string>(json, "error", "a worker gave up; see " + replay_.failure().string());
  }

 private:
  void add(int64_t id, std::vector<Row>& rows) {
    if (missing_.erase(id) == 0) return;
    const auto& unit = plan_.units.at(static_cast<std::size_t>(id));
    const auto file = replay_.unit(id);
    UnitLog log = parse_unit(core::read_file(file), unit, file.string());
    if (record_) hidden_.strip(*record_, log);
    for (auto& entry : log.entries) {
      if (auto* row = std::get_if<Row>(&entry)) rows.push_back(std::move(*row));
    }
  }

  const core::ReplayDir replay_;
  const core::Plan plan_;
  const bool ordered_;
  const Hidden hidden_;
  std::optional<Record> record_;  // read only if rows are left out
  std::set<int64_t> missing_;
  PollPace pace_{std::chrono::milliseconds(0), std::chrono::seconds(5)};  // for listings
};

}  // namespace

std::unique_ptr<Follower> follow_record(const core::RunDir& run) {
  return std::make_unique<RecordFollower>(run);
}

std::unique_ptr<Follower> follow_replay(const core::ReplayDir& replay, core::Plan plan, bool ordered) {
  return std::make_unique<ReplayFollower>(replay, std::move(plan), ordered);
}

}  // namespace flor::results
