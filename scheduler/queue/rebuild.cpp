// The calls of Queue that build it from the store, or update one that survived a restart of Redis.
#include <fcntl.h>

#include <cerrno>
#include <charconv>
#include <random>
#include <set>
#include <thread>

#include "core/base/json.h"
#include "core/base/parse_number.h"
#include "core/files/descriptor.h"
#include "core/files/durable.h"
#include "core/store/proof.h"
#include "queue/queue.h"
#include "queue/store_down.h"
#include "queue_scripts.h"

namespace flor::queue {
namespace {

// The scripts refuse numbers of more than 15 digits (whole() in prelude.lua).
constexpr int64_t most_incarnations = 100000000000000;
// Words that one call adds. Less than MOST_ARGUMENTS of prelude.lua, and a multiple of 2 and of 3, so that no
// pair and no triple is torn apart.
constexpr std::size_t words_at_once = 900;

// Returns the unit that a file NNNNNN.jsonl of units/ holds; -1 for any other file, such as a temporary one.
int64_t unit_of(const core::fs::path& file) {
  if (file.extension() != ".jsonl") return -1;
  return core::parse_number<int64_t>(file.stem().string()).value_or(-1);
}

// Maps each published unit, proof units too, to the size of its file in bytes.
std::map<int64_t, int64_t> published_units(const core::ReplayDir& replay, const core::Plan& plan) {
  std::map<int64_t, int64_t> out;
  const auto look = [&](const core::fs::path& directory, const auto& belongs) {
    std::error_code error;
    core::fs::directory_iterator entries(directory, error);
    // What a file server hides would be executed again.
    if (error && error != std::errc::no_such_file_or_directory)
      throw std::system_error(error, "cannot read " + directory.string());
    for (const auto& entry : entries) {
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

// Returns the work that is left: the contiguous runs of open units of each planned segment, then the proof
// units one by one. The selected ranges come after the planned segments, so that each open unit is in exactly
// one piece, also where no planned segment holds it.
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

// Returns pairs for add_done.lua: a unit, and the JSON that is kept for it.
std::vector<std::string> done_pairs(const std::map<int64_t, int64_t>& published) {
  std::vector<std::string> out;
  for (const auto& [unit, bytes] : published) {
    out.push_back(std::to_string(unit));
    out.push_back(core::json_text({{"worker", ""}, {"digest", ""}, {"bytes", bytes}, {"seconds", 0.0}}));
  }
  return out;
}

std::string new_builder() {
  std::random_device random;
  return std::to_string(random()) + "." + std::to_string(random());
}

int64_t stored_incarnation(const core::ReplayDir& replay) {
  if (!core::fs::exists(replay.incarnation())) return 0;
  const std::string text = core::read_file(replay.incarnation());
  int64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc() || number < 0 ||
      number > most_incarnations) {
    throw core::Error(
        replay.incarnation().string() +
        " holds no number; remove this replay and ask again, or write a number there that is larger "
        "than every incarnation before");
  }
  return number;
}

// Takes the first incarnation from `least` on that no other builder has.
// Motivation: where locks hold on one node only, two nodes may build at once. With one incarnation for both,
// equal tokens would fence no one. So the builder creates a file of its own with O_EXCL. The file stays,
// because another builder may have read an old number.
int64_t take_incarnation(const core::ReplayDir& replay, int64_t least) {
  for (int64_t number = least; number <= most_incarnations + 1; ++number) {
    const auto file = replay.path / ("incarnation." + std::to_string(number));
    const core::Descriptor mine(
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (mine) return number;
    if (errno != EEXIST)
      throw std::system_error(errno, std::generic_category(), "cannot create " + file.string());
  }
  throw core::Error(replay.path.string() +
                    " has too many files incarnation.N; remove this replay and ask again");
}

// Takes the lock of the queue. Throws RedisDown after `patience`: another process rebuilds the queue, or
// hangs.
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

// Returns true if the queue is there, and was built or updated since this Redis started.
bool Queue::in_place() {
  const std::string server = redis_.server_id();
  return command({"HGET", prefix_ + "meta", "server"}).text == server;
}

void Queue::ensure(const core::Plan& plan) {
  if (!plan_) plan_ = plan;
  if (in_place()) return;
  unless_store_is_down("the queue cannot be rebuilt now", [this] { rebuild(); });
}

void Queue::rebuild() {
  const core::FileLock lock = lock_queue(replay_, options_.timeout);
  if (in_place()) return;
  if (const auto why = unfit(redis_)) throw core::Error(*why);
  build(*plan_);
}

// Runs one step of a build. Throws RedisDown if another builder has taken over.
Reply Queue::build_step(const Script& script, const std::vector<std::string>& args) {
  Reply reply = attempt(script, args);
  if (reply.at(0).text == "lost")
    throw RedisDown("the queue of " + replay_.path.string() + " is being built by another process");
  return reply;
}

// Sends `words` to the script, as many at a time as it accepts.
void Queue::add(const Script& script, const std::string& builder, const std::vector<std::string>& words) {
  for (std::size_t at = 0; at < words.size(); at += words_at_once) {
    std::vector<std::string> args{builder};
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
    const auto size = std::min(words_at_once, words.size() - at);
    args.insert(args.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
    build_step(script, args);
  }
}

// Updates a queue that survived a restart of Redis. Returns false if Redis has none, or a damaged one.
bool Queue::adopt(const std::string& builder, const std::string& incarnation,
                  const std::vector<std::string>& done) {
  try {
    const Reply begun = attempt(scripts::adopt_begin, {builder, incarnation});
    if (begun.at(0).text != "ok") return false;
    add(scripts::add_done, builder, done);
    std::string at = "0";
    repeat([&] {
      const Reply reply = build_step(scripts::adopt, {builder, at});
      at = reply.at(1).str();
      return reply.at(0).text == "more";
    });
    return true;
  } catch (const QueueDamaged&) {
    return false;  // The store has all that is needed to build it again.
  }
}

// Builds the queue in steps, between which Redis serves other clients. No one uses the queue before the last
// step.
void Queue::build(const core::Plan& plan) {
  const Reply known = command({"HGET", prefix_ + "meta", "incarnation"});
  // A number that is too large was not written by Flor. The store's number is at least as new.
  const int64_t theirs = known.num() <= most_incarnations ? known.num() : 0;
  const std::string incarnation =
      std::to_string(take_incarnation(replay_, std::max(stored_incarnation(replay_), theirs) + 1));
  core::write_durably(replay_.incarnation(), incarnation + "\n");
  const auto published = published_units(replay_, plan);
  const auto done = done_pairs(published);
  const std::string builder = new_builder();
  if (!adopt(builder, incarnation, done)) {
    remove_keys(false);
    attempt(scripts::build_begin,
            {builder, incarnation, std::to_string(plan.units.size()), std::to_string(plan.proofs)});
    std::vector<std::string> segments;
    for (const auto& piece : remaining(plan, published)) {
      segments.push_back(std::to_string(piece.range.first));
      segments.push_back(std::to_string(piece.range.second));
      segments.push_back(std::to_string(piece.order));
    }
    add(scripts::add_segments, builder, segments);
    add(scripts::add_done, builder, done);
  }
  build_step(scripts::build_end, {builder, std::to_string(plan.selected.size())});
}

}  // namespace flor::queue
