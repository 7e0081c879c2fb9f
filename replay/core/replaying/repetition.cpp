#include "core/replaying/repetition.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/config/settings.h"
#include "core/config/values.h"
#include "core/files/durable.h"
#include "core/process/process.h"
#include "core/replaying/unit_log.h"
#include "core/store/liveness.h"
#include "core/store/presence.h"

namespace flor::core {
namespace {

// So often the unit must end alike, one after the other.
constexpr std::size_t ends_alike = 3;

// Over so many seconds the end must have been seen. The variable is for tests.
double ending_seconds() {
  return seconds_from(environment_variable("FLOR_ENDING_SECONDS").value_or("")).value_or(60);
}

// After so many the end counts though no other node has seen it. The other node may be busy for hours, or
// have too little time left for the unit.
constexpr std::size_t ends_alike_on_one_node = 10;

constexpr const char* file_prefix = "ending-";

struct Endings {
  std::string why;
  std::vector<Ending> all;
};

Endings read_endings(const fs::path& file) {
  Endings out;
  const Json json = parse_json(read_file(file));
  out.why = field<std::string>(json, "why", "");
  for (const auto& row : field<std::vector<Json>>(json, "executions", {})) {
    out.all.push_back({field<std::string>(row, "outcome", ""), field<std::string>(row, "node", ""),
                       field<double>(row, "time", 0)});
  }
  return out;
}

void write_endings(const fs::path& file, const Endings& endings) {
  Json rows = Json::array();
  for (const auto& ending : endings.all)
    rows.push_back({{"outcome", ending.outcome}, {"node", ending.node}, {"time", ending.time}});
  write_durably(file, Json({{"why", endings.why}, {"executions", rows}}).dump() + "\n");
}

std::vector<fs::path> ending_files(const ReplayDir& replay) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(replay.workers())) {
    if (entry.path().filename().string().rfind(file_prefix, 0) == 0) out.push_back(entry.path());
  }
  return out;
}

bool has_other_nodes(const ReplayDir& replay) {
  for (const auto& entry : fs::directory_iterator(replay.workers())) {
    fs::path lock = entry.path();
    if (lock.extension() != ".json") continue;
    const std::string node = field<std::string>(parse_json(read_file(lock)), "node", "");
    if (node != node_name() && may_be_present(lock.replace_extension(".lock"))) return true;
  }
  return false;
}

}  // namespace

std::optional<ExecuteAgain> weigh(const std::vector<Ending>& of_unit, const std::vector<Ending>& elsewhere,
                                  bool has_other_nodes, double span) {
  const Ending& now = of_unit.back();
  double first = now.time;
  std::set<std::string> nodes;
  const auto take_in = [&](const Ending& ending) {
    first = std::min(first, ending.time);
    nodes.insert(ending.node);
  };
  std::size_t alike = 0;
  for (auto seen = of_unit.rbegin(); seen != of_unit.rend() && seen->outcome == now.outcome; ++seen, ++alike)
    take_in(*seen);
  for (const auto& ending : elsewhere) take_in(ending);
  const bool lasted = now.time - first >= span;
  const bool seen_elsewhere = nodes.size() > 1 || !has_other_nodes || alike >= ends_alike_on_one_node;
  if (alike >= ends_alike && lasted && seen_elsewhere) return std::nullopt;
  const double pause = std::min(span, span / 6 * std::exp2(static_cast<double>(alike - 1)));
  return ExecuteAgain{alike == 1, lasted && seen_elsewhere ? 0 : pause};
}

std::optional<ExecuteAgain> see_ending(const ReplayDir& replay, int64_t unit, const std::string& outcome,
                                       const std::string& why) {
  const fs::path own = replay.ending(unit);
  Endings endings;
  std::vector<Ending> elsewhere;
  for (const auto& file : ending_files(replay)) {
    Endings seen = read_endings(file);
    if (file == own) {
      endings = std::move(seen);
    } else if (seen.why == why) {
      elsewhere.insert(elsewhere.end(), seen.all.begin(), seen.all.end());
    }
  }
  endings.why = why;
  // By the file server's clock: those of the nodes may differ.
  const double now = server_time(replay.workers()).value_or(wall_seconds());
  endings.all.push_back({digest_of(without_volatile_rows(outcome)), node_name(), now});
  write_endings(own, endings);
  return weigh(endings.all, elsewhere, has_other_nodes(replay), ending_seconds());
}

void forget_endings(const ReplayDir& replay) {
  std::error_code ignored;
  if (!fs::exists(replay.workers(), ignored)) return;
  for (const auto& file : ending_files(replay)) fs::remove(file);
}

}  // namespace flor::core
