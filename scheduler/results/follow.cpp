#include "results/follow.h"

#include <fstream>
#include <iterator>
#include <utility>
#include <variant>

#include "core/durable.h"
#include "core/json_lines.h"
#include "core/manifest.h"

namespace flor::results {
namespace {

using core::Json;

class RecordFollower : public Follower {
 public:
  explicit RecordFollower(core::RunDir run) : run_(std::move(run)) {}

  bool ended() override {
    // A recording that was killed keeps its status, but nobody holds its lock any more.
    return core::read_manifest_and_progress(run_).status != "recording" || !run_.is_being_recorded();
  }

  std::vector<Row> more() override {
    std::ifstream in(run_.log(), std::ios::binary);
    in.seekg(static_cast<std::streamoff>(read_));
    std::string text{std::istreambuf_iterator<char>(in), {}};
    text.resize(text.rfind('\n') + 1);  // what is behind it is still being written
    read_ += text.size();
    std::vector<Row> rows;
    for (auto& json : core::parse_json_lines(text, run_.log().string()).rows) {
      if (json.contains("@event")) continue;  // of a resumption
      rows.push_back(row_from(std::move(json), run_.log().string()));
    }
    return rows;
  }

 private:
  const core::RunDir run_;
  std::size_t read_ = 0;  // bytes
};

class ReplayFollower : public Follower {
 public:
  ReplayFollower(core::ReplayDir replay, core::Plan plan, bool ordered)
      : replay_(std::move(replay)), plan_(std::move(plan)), ordered_(ordered) {
    for (const int64_t unit : plan_.selected.ids()) missing_.insert(unit);
  }

  bool ended() override {
    if (!failure().empty()) return true;
    return missing_.empty();
  }

  std::vector<Row> more() override {
    std::vector<Row> rows;
    for (auto unit = missing_.begin(); unit != missing_.end();) {
      if (core::fs::exists(replay_.unit(*unit))) {
        add_rows(*unit, rows);
        unit = missing_.erase(unit);
      } else if (ordered_) {
        break;
      } else {
        ++unit;
      }
    }
    return rows;
  }

  std::string failure() override {
    if (!core::fs::exists(replay_.failure())) return "";
    const Json json = Json::parse(core::read_file(replay_.failure()), nullptr, false);
    return core::field<std::string>(json, "error", "a worker gave up; see " + replay_.failure().string());
  }

 private:
  void add_rows(int64_t id, std::vector<Row>& rows) const {
    const auto& unit = plan_.units.at(static_cast<std::size_t>(id));
    const auto file = replay_.unit(id);
    UnitLog log = parse_unit(core::read_file(file), unit, file.string());
    for (auto& entry : log.entries) {
      if (auto* row = std::get_if<Row>(&entry)) rows.push_back(std::move(*row));
    }
  }

  const core::ReplayDir replay_;
  const core::Plan plan_;
  const bool ordered_;
  std::set<int64_t> missing_;
};

}  // namespace

std::unique_ptr<Follower> follow_record(const core::RunDir& run) {
  return std::make_unique<RecordFollower>(run);
}

std::unique_ptr<Follower> follow_replay(const core::ReplayDir& replay, core::Plan plan, bool ordered) {
  return std::make_unique<ReplayFollower>(replay, std::move(plan), ordered);
}

}  // namespace flor::results
