#include "dashboard/data/decisions.h"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace flor::dashboard {
namespace {

using core::field;
using core::Json;

enum class Decision { skipped, taken, failed };

struct Point {
  double computed = 0;
  std::size_t block = 0;
  Decision decision = Decision::skipped;
  double spent = 0;
  std::uint64_t bytes = 0;
  std::string at;
  std::size_t why = 0;
};

// Texts, each once.
class Texts {
 public:
  std::size_t number_of(const std::string& text) {
    const auto [at, first] = numbers_.emplace(text, texts_.size());
    if (first) texts_.push_back(text);
    return at->second;
  }
  const std::vector<std::string>& all() const { return texts_; }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::string> texts_;
};

Decision decision_from(const std::string& text) {
  if (text == "materialize") return Decision::taken;
  return text == "failed" ? Decision::failed : Decision::skipped;
}

// Leaves out every other point of this decision, or of all.
template <class Applies>
std::vector<Point> halved(std::vector<Point> points, Applies applies) {
  std::vector<Point> out;
  bool stays = true;
  for (auto& point : points) {
    if (!applies(point) || std::exchange(stays, !stays)) out.push_back(std::move(point));
  }
  return out;
}

std::vector<Point> thinned(std::vector<Point> points, std::size_t most) {
  const auto is_skipped = [](const Point& point) { return point.decision == Decision::skipped; };
  while (points.size() > most) {
    const std::size_t before = points.size();
    points = halved(std::move(points), is_skipped);
    // One skipped point always stays. Then drop others.
    if (points.size() + 1 >= before) points = halved(std::move(points), [](const Point&) { return true; });
  }
  return points;
}

}  // namespace

Json decisions_of(const core::Timeline& timeline, std::size_t most) {
  std::vector<Point> points;
  Texts blocks, whys;
  double computed = 0, spent = 0;
  for (const auto& row : timeline) {
    if (field<std::string>(row, "kind", "") != "block") continue;
    Point point;
    const core::ExecutionCost cost = core::execution_cost(row);
    computed += cost.computed;
    point.spent = cost.paid;
    spent += point.spent;
    point.computed = computed;
    point.block = blocks.number_of(field<std::string>(row, "block", ""));
    point.decision = decision_from(field<std::string>(row, "decision", ""));
    point.bytes = field<std::uint64_t>(row, "bytes", 0);
    point.at = field<std::string>(row, "at", "");
    point.why = whys.number_of(field<std::string>(row, "why", ""));
    points.push_back(std::move(point));
  }
  Json shown = Json::array();
  const std::size_t of = points.size();
  for (const auto& point : thinned(std::move(points), most)) {
    shown.push_back(Json::array({point.computed, point.block, static_cast<int>(point.decision), point.spent,
                                 point.bytes, point.at, point.why}));
  }
  return {{"computed", computed},       {"spent", spent}, {"blocks", blocks.all()}, {"whys", whys.all()},
          {"points", std::move(shown)}, {"of", of}};
}

}  // namespace flor::dashboard
