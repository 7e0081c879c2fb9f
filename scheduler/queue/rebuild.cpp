// Building the queue from the store, and bringing one that survived up to date.
#include <charconv>
#include <set>
#include <thread>

#include "core/base/json.h"
#include "core/base/parse_number.h"
#include "core/files/durable.h"
#include "core/store/proof.h"
#include "queue/queue.h"
#include "queue_scripts.h"

namespace flor::queue {
namespace {

// The unit that a file of units/ holds: NNNNNN.jsonl; -1 for anything else (temporary siblings).
int64_t unit_of(const core::fs::path& file) {
  if (file.extension() != ".jsonl") return -1;
  return core::parse_number<int64_t>(file.stem().string()).value_or(-1);
}

// Unit → size of its file; proof units as well.
std::map<int64_t, int64_t> published_units(const core::ReplayDir& replay, const core::Plan& plan) {
  std::map<int64_t, int64_t> out;
  const auto look = [&](const core::fs::path& directory, const auto& belongs) {
    std::error_code error;
    for (const auto& entry : core::fs::directory_iterator(directory, error)) {
      const int64_t unit = unit_of(entry.path());
      std::error_code gone;
      const auto size = entry.file_size(gone);
      if (!gone && belongs(unit)) out[unit] = static_cast<int64_t>(size);
    }
  };
  look(replay.units(), [&](int64_t unit) { return plan.selected.contains(unit); });
  look(replay.proofs(), [&](int64_t unit) { return core::is_proof(plan, unit); });
  return out;
}

struct Piece {
  core::UnitRange range;
  std::size_t order = 0;
};

// What is left of the plan: of each planned segment the contiguous runs of units that are not done. Every
// selected unit is in exactly one piece or done, whatever the plan says. Behind them the proof units.
std::vector<Piece> remaining(const core::Plan& plan, const std::map<int64_t, int64_t>& published) {
  std::set<int64_t> open;
  for (const int64_t unit : plan.selected.ids()) {
    if (published.count(unit) == 0) open.insert(unit);
  }
  std::vector<core::UnitRange> planned = plan.segments;
  const auto& selected = plan.selected.ranges();
  planned.insert(planned.end(), selected.begin(), selected.end());
  std::vector<Piece> out;
  for (std::size_t order = 0; order < planned.size(); ++order) {
    bool inside = false;
    for (int64_t unit = planned[order].first; unit < planned[order].second; ++unit) {
      const bool take = open.erase(unit) != 0;
      if (take && !inside) out.push_back({{unit, unit + 1}, order});
      if (take) out.back().range.second = unit + 1;
      inside = take;
    }
  }
  const auto first = static_cast<int64_t>(plan.units.size());
  for (int64_t unit = first; unit < first + plan.proofs; ++unit) {
    const auto order = planned.size() + static_cast<std::size_t>(unit - first);
    if (published.count(unit) == 0) out.push_back({{unit, unit + 1}, order});
  }
  return out;
}

void append_done(std::vector<std::string>& args, const std::map<int64_t, int64_t>& published) {
  for (const auto& [unit, bytes] : published) {
    args.push_back(std::to_string(unit));
    args.push_back(core::json_text({{"worker", ""}, {"digest", ""}, {"bytes", bytes}, {"seconds", 0.0}}));
  }
}

int64_t stored_incarnation(const core::ReplayDir& replay) {
  if (!core::fs::exists(replay.incarnation())) return 0;
  const std::string text = core::read_file(replay.incarnation());
  int64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) {
    throw core::Error(
        replay.incarnation().string() +
        " holds no number; remove this replay and ask again, or write a number there that is larger "
        "than every incarnation before");
  }
  return number;
}

// Waits as long as an exchange with Redis may take: whoever rebuilds is done soon, or is stuck.
core::FileLock lock_queue(const core::ReplayDir& replay, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (auto lock = core::FileLock::try_take(replay.path / "queue.lock")) return std::move(*lock);
    if (std::chrono::steady_clock::now() >= until) {
      throw RedisDown("the queue of " + replay.path.string() + " is being rebuilt by another process");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

bool Queue::in_place() {
  const std::string server = redis_.server_id();
  return redis_.command({"HGET", prefix_ + "meta", "server"}).text == server;
}

void Queue::ensure(const core::Plan& plan) {
  if (!plan_) plan_ = plan;
  if (in_place()) return;
  const core::FileLock lock = lock_queue(replay_, options_.timeout);
  if (in_place()) return;
  if (const auto why = unfit(redis_)) throw core::Error(*why);
  build(*plan_);
}

void Queue::build(const core::Plan& plan) {
  const Reply meta = redis_.command({"HMGET", prefix_ + "meta", "incarnation", "units"});
  const int64_t incarnation = std::max(stored_incarnation(replay_), meta.at(0).num()) + 1;
  core::write_durably(replay_.incarnation(), std::to_string(incarnation) + "\n");
  const auto published = published_units(replay_, plan);
  if (!meta.at(1).is_nil()) {
    std::vector<std::string> args{std::to_string(incarnation)};
    append_done(args, published);
    if (attempt(scripts::adopt, args).at(0).text == "ok") return;
  }
  const auto pieces = remaining(plan, published);
  std::vector<std::string> args{std::to_string(incarnation), std::to_string(plan.selected.size()),
                                std::to_string(plan.units.size()), std::to_string(plan.proofs),
                                std::to_string(pieces.size())};
  for (const auto& piece : pieces) {
    args.push_back(std::to_string(piece.range.first));
    args.push_back(std::to_string(piece.range.second));
    args.push_back(std::to_string(piece.order));
  }
  append_done(args, published);
  attempt(scripts::build, args);
}

}  // namespace flor::queue
