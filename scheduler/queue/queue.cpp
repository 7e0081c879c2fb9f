#include "queue/queue.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/base/json.h"
#include "core/store/proof.h"
#include "queue/acl.h"
#include "queue/store_down.h"
#include "queue_scripts.h"

namespace flor::queue {
namespace {

// Length of silence, in leases, after which a worker is forgotten.
constexpr int silence = 6;
// Limit for scripts that do a part of their work at each call (MOST in prelude.lua). Redis cannot hold as
// much as needs more calls.
constexpr int most_calls = 1000000;
// How often a claim tries again when another worker was quicker to take what it chose.
constexpr int most_takes = 4;

// The number of units of a replay that may be executed twice.
std::size_t most_copies(std::size_t units) {
  return std::max<std::size_t>(2, units / 10);
}

// Returns 0 if `text` is no positive number: the speed was not measured.
double speed_in(const std::string& text) {
  const double speed = std::strtod(text.c_str(), nullptr);
  return std::isfinite(speed) && speed > 0 ? speed : 0;
}

std::string number_text(double number) {
  return core::Json(number).dump();
}

core::UsageError no_such_ids(const core::ReplayDir& replay) {
  return core::UsageError(replay.path.string() +
                          " is no replay: its path must end in RUN/replays/REPLAY, with ids as `flor runs` "
                          "and `flor show RUN` print them");
}

// Parses the list of running segments that claim.lua returns, and keeps its order.
std::vector<Running> running_in(const Reply& list) {
  std::vector<Running> out;
  for (const auto& item : list.items) {
    Running one;
    one.cur = item.at(1).num();
    one.hi = item.at(2).num();
    one.elapsed = std::max(0.0, static_cast<double>(item.at(3).num()) / 1000);
    one.speed = speed_in(item.at(4).str());
    one.from = item.at(5).num();
    one.copied = !item.at(6).str().empty();
    out.push_back(one);
  }
  return out;
}

bool fits(const Running& one, int64_t units) {
  return one.cur >= 0 && one.cur < one.hi && one.hi <= units && one.from <= one.cur;
}

Standing standing_of(const Reply& reply) {
  Standing out;
  out.lost = reply.at(0).text != "ok";
  out.hi = reply.at(1).num();
  out.again = reply.at(2).num() != 0;
  return out;
}

std::vector<std::string> join_args(const WorkerInfo& worker) {
  return {worker.id,
          "node",
          worker.node,
          "gpu",
          worker.gpu,
          "job",
          worker.job,
          "task",
          worker.task,
          "pid",
          std::to_string(worker.pid)};
}

// Makes one line of an error, and cuts it, so that no worker's whole output gets into Redis.
std::string shortened(std::string text) {
  if (text.size() > 1000) text.resize(1000);
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

}  // namespace

Queue::Queue(const std::string& redis_url, core::ReplayDir replay, QueueOptions options)
    : redis_(redis_url, options.timeout), replay_(std::move(replay)), options_(options) {
  const std::string run = replay_.path.parent_path().parent_path().filename().string();
  if (!core::is_valid_id(run) || !core::is_valid_id(replay_.id())) throw no_such_ids(replay_);
  prefix_ = key_prefix(redis_.url()) + "{" + run + "/" + replay_.id() + "}:";
}

// Runs a script. Every script can be repeated, so tries once more if a connection that was open has broken.
// Does not try again after a time-out.
Reply Queue::attempt(const Script& script, const std::vector<std::string>& args) {
  const bool was_connected = redis_.connected();
  for (int left = was_connected ? 1 : 0;; --left) {
    try {
      std::vector<std::string> all{redis_.server_id(), std::to_string(options_.lease.count())};
      all.insert(all.end(), args.begin(), args.end());
      return redis_.run(script, {prefix_}, all);
    } catch (const RedisRefused& refused) {
      throw_if_damaged(refused);
      throw;
    } catch (const RedisDown& problem) {
      if (left == 0 || std::string_view(problem.what()).find("no answer within") != std::string_view::npos)
        throw;
    }
  }
}

void Queue::throw_if_damaged(const RedisRefused& refused) const {
  constexpr std::string_view mark = "DAMAGED<";
  const std::string_view why = refused.what();
  if (const auto at = why.find(mark); at != std::string_view::npos) {
    const auto text = why.substr(at + mark.size());
    damaged(std::string(text.substr(0, text.find('>'))));
  }
  if (why.find("WRONGTYPE") != std::string_view::npos) damaged("one of its keys is of another type");
}

void Queue::damaged(const std::string& what) const {
  throw QueueDamaged("the queue of replay " + replay_.id() + " in Redis at " + redis_.url().shown() +
                     " is damaged (" + what + "); delete the key " + prefix_ +
                     "meta there, and the queue is built anew from the store");
}

Reply Queue::command(const std::vector<std::string>& words) {
  try {
    return redis_.command(words);
  } catch (const RedisRefused& refused) {
    throw_if_damaged(refused);
    throw;
  }
}

void Queue::repeat(const std::function<bool()>& call) const {
  for (int calls = 0; calls < most_calls; ++calls) {
    if (!call()) return;
  }
  damaged("its lists have no end");
}

Reply Queue::run(const Script& script, const std::vector<std::string>& args) {
  for (int left = 2;; --left) {
    Reply reply = attempt(script, args);
    if (reply.at(0).text != "absent") return reply;
    if (left == 0)
      throw RedisDown("Redis at " + redis_.url().shown() + " loses the queue as soon as it is built");
    ensure(plan());
  }
}

Claim Queue::claim(const std::string& worker, int64_t from, std::optional<int64_t> left) {
  Claim out = claim_any(worker, from);
  if (left && out.kind == ClaimKind::segment) {
    return within(static_cast<double>(*left), worker, from, out.segment);
  }
  return out;
}

Claim Queue::within(double left, const std::string& worker, int64_t from, const Segment& segment) {
  const Reply about = command({"HMGET", prefix_ + "worker:" + worker, "speed", "units"});
  const double measured = about.at(0).is_nil() ? 0 : speed_in(about.at(0).str());
  const bool proof = core::is_proof(plan(), segment.cur);
  const bool fresh = !proof && (about.at(1).is_nil() || about.at(1).num() == 0);
  const double usable = left * (measured > 0 ? measured : 1);
  int64_t end = proof ? proof_within(plan(), segment.cur, usable)
                      : done_within(times(), from, {segment.cur, segment.hi}, usable);
  if (end == segment.cur) {
    if (proof) {  // Fail the proof, so that the replay does not wait for it: the rows are all there.
      release(segment.id, segment.fence, "too little time was left before the job's time limit", true);
      return claim(worker, from, static_cast<int64_t>(left));
    }
    if (!fresh) {
      release(segment.id, segment.fence);
      return {ClaimKind::late, {}};
    }
    end = segment.cur + 1;  // The plan may be wrong, and a unit that no one tries is never done.
  }
  Claim out{ClaimKind::segment, segment};
  if (end < segment.hi && split(segment.id, end)) out.segment.hi = end;
  return out;
}

Segment Queue::segment_of(const Reply& reply) {
  Segment out{reply.at(1).str(), reply.at(2).num(), reply.at(3).num(), reply.at(4).num(), reply.at(5).str()};
  const auto units = static_cast<int64_t>(plan().units.size());
  const int64_t end = out.cur < units ? units : units + plan().proofs;
  if (out.lo < 0 || out.cur < out.lo || out.hi <= out.cur || out.hi > end)
    damaged("segment " + out.id + " has units that the plan has not");
  return out;
}

Reply Queue::ask_for_segment(const std::string& worker, int64_t from, bool joined) {
  Reply reply;
  std::vector<std::string> looked{"0", "", ""};
  repeat([&] {
    reply = run(scripts::claim,
                {worker, std::to_string(from), joined ? "1" : "", looked[0], looked[1], looked[2]});
    looked = {reply.at(1).str(), reply.at(2).str(), reply.at(3).str()};
    return reply.at(0).text == "more";
  });
  return reply;
}

Claim Queue::claim_any(const std::string& worker, int64_t from) {
  const auto joined = joined_.find(worker);
  for (int left = most_takes;; --left) {
    const Reply reply = ask_for_segment(worker, from, joined != joined_.end());
    const std::string& kind = reply.at(0).text;
    if (kind == "segment") return {ClaimKind::segment, segment_of(reply)};
    if (kind == "done") return {ClaimKind::done, {}};
    if (kind == "unknown") {
      if (left == 0) return {};
      run(scripts::join, join_args(joined->second));
      continue;
    }
    auto running = running_in(reply.at(2));
    const auto units = static_cast<int64_t>(plan().units.size());
    if (!std::all_of(running.begin(), running.end(), [&](const auto& one) { return fits(one, units); }))
      running.clear();
    const auto args = left > 0 ? what_to_take(reply, running, worker, from) : std::nullopt;
    if (!args)
      return {kind == "behind" ? ClaimKind::behind : ClaimKind::wait, {}, latest_end(times(), running)};
    const Reply taken = run(scripts::take, *args);
    if (taken.at(0).text == "segment") return {ClaimKind::segment, segment_of(taken)};
    // Another worker was quicker: look again.
  }
}

// Returns the arguments of the script `take`; nullopt if no part of a running segment is worth taking.
std::optional<std::vector<std::string>> Queue::what_to_take(const Reply& reply,
                                                            const std::vector<Running>& running,
                                                            const std::string& worker, int64_t from) {
  if (!plan().balance) return std::nullopt;
  const auto share = queue::share(times(), running, {from, speed_in(reply.at(1).str()), plan().copies});
  if (!share) return std::nullopt;
  const auto& item = reply.at(2).at(share->of);
  return std::vector<std::string>{worker,
                                  std::to_string(from),
                                  item.at(0).str(),
                                  item.at(2).str(),
                                  std::to_string(share->at),
                                  share->copy ? "1" : "",
                                  std::to_string(most_copies(plan().selected.size()))};
}

const Times& Queue::times() {
  if (!times_) times_.emplace(plan());
  return *times_;
}

const core::Plan& Queue::plan() {
  if (!plan_) {
    plan_ = unless_store_is_down("the plan of replay " + replay_.id() + " cannot be read now",
                                 [this] { return core::read_plan(replay_); });
  }
  return *plan_;
}

Standing Queue::renew(const std::string& segment, const std::string& fence) {
  return standing_of(run(scripts::renew, {segment, fence}));
}

// Returns the part of the unit's work, in seconds, that a worker's measured time covers. That time starts
// after the restore.
double Queue::work_within(int64_t unit) {
  if (unit < 0 || unit >= static_cast<int64_t>(plan().units.size())) return 0;
  const core::Unit& known = plan().units[static_cast<std::size_t>(unit)];
  return std::max(0.0, plan().complete ? known.work - known.restore : known.work);
}

Standing Queue::commit_one(const Commit& unit, int64_t* hole) {
  const core::Json kept = {
      {"worker", unit.worker}, {"digest", unit.digest}, {"bytes", unit.bytes}, {"seconds", unit.seconds}};
  Reply reply;
  repeat([&] {
    reply = run(scripts::commit,
                {unit.segment, unit.fence, std::to_string(unit.unit), unit.worker, core::json_text(kept),
                 number_text(work_within(unit.unit)), number_text(unit.seconds)});
    return reply.at(0).text == "more";
  });
  *hole = reply.at(0).text == "hole" ? reply.at(1).num() : -1;
  return standing_of(reply);
}

Standing Queue::commit(const Commit& unit) {
  int64_t hole = -1;
  Standing standing = commit_one(unit, &hole);
  if (hole < 0) return standing;
  // An agent answers commits while Redis is away, and makes them later. An agent that died meanwhile lost
  // them, but the files of their units are published, so they can be committed now.
  Commit earlier = unit;
  earlier.digest.clear();
  earlier.seconds = 0;
  for (earlier.unit = hole; earlier.unit < unit.unit; ++earlier.unit) {
    std::error_code error;
    const auto size = core::fs::file_size(replay_.unit(earlier.unit), error);
    if (error) return standing;
    earlier.bytes = static_cast<int64_t>(size);
    standing = commit_one(earlier, &hole);
    if (standing.lost) return standing;
  }
  return commit_one(unit, &hole);
}

bool Queue::release(const std::string& segment, const std::string& fence, const std::string& error,
                    bool give_up) {
  return run(scripts::release, {segment, fence, shortened(error), give_up ? "1" : "0"}).at(0).text == "ok";
}

std::optional<std::string> Queue::split(const std::string& segment, int64_t at) {
  const Reply reply = run(scripts::split, {segment, std::to_string(at)});
  if (reply.at(0).text != "ok") return std::nullopt;
  return reply.at(1).str();
}

int64_t Queue::reap() {
  int64_t count = 0;
  std::string at;
  repeat([&] {
    const Reply reply = run(scripts::reap, {std::to_string(options_.lease.count() * silence), at});
    count += reply.at(1).num();
    at = reply.at(2).str();
    return reply.at(0).text == "more";
  });
  return count;
}

void Queue::join(const WorkerInfo& worker) {
  joined_[worker.id] = worker;
  run(scripts::join, join_args(worker));
}

void Queue::leave(const std::string& worker) {
  joined_.erase(worker);
  attempt(scripts::leave, {worker});  // not run(): do not rebuild a queue only to leave it
}

void Queue::remove() {
  remove_keys(true);
}

void Queue::remove_keys(bool events) {
  std::string at;
  repeat([&] {
    const Reply reply = attempt(scripts::remove, {events ? "1" : "", at});
    at = reply.at(1).str();
    return reply.at(0).text == "more";
  });
}

}  // namespace flor::queue
