// The work queue of one replay in Redis, for the agent and the command `flor`: segments, leases and fencing
// tokens. Only Lua scripts change it.
// Redis coordinates, and the store is the truth: the first call that finds the queue missing rebuilds it from
// plan.json and units/. docs/formats.md, "Redis", describes the keys and the scripts.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/store/plan.h"
#include "core/store/store.h"
#include "queue/redis.h"
#include "queue/share.h"

namespace flor::queue {

// A lease on a contiguous range of units. `cur` is the next unit to execute.
struct Segment {
  std::string id;
  int64_t lo = 0, hi = 0, cur = 0;  // units lo … hi-1
  std::string fence;                // the fencing token, INCARNATION.COUNTER
};

// segment: the worker got a segment.
// wait: no work is ready now; ask again.
// done: no work is left (there may be failed segments).
// behind: only units before `from` are left.
// late: the worker's time is too short for any unit that is left.
enum class ClaimKind { segment, wait, done, behind, late };
struct Claim {
  ClaimKind kind = ClaimKind::wait;
  Segment segment;
  // With wait and behind: seconds until all running segments are expected to end; 0: unknown.
  double left = 0;
};

// The result of a renewal or a commit.
struct Standing {
  bool lost = false;   // the segment, or this unit of it, is no longer this worker's
  bool again = false;  // the unit was committed before
  int64_t hi = 0;      // the segment's end now: it shrinks when the segment is split
};

// A worker. status() fills in `units` (committed so far), `last_seen_s` (seconds since its last sign of life)
// and `segment` (which it holds now); join() needs the others.
struct WorkerInfo {
  std::string id, node, gpu, job, task;
  int64_t pid = 0, units = 0;
  double last_seen_s = 0;
  std::string segment;
};

struct SegmentInfo {
  std::string id;
  int64_t lo = 0, hi = 0, cur = 0;
  std::string state;   // ready, running, done, failed
  std::string owner;   // the worker that runs it
  int64_t tries = 0;   // failed attempts since the last committed unit
  std::string error;   // of the last failed attempt
  std::string parent;  // the segment that it was split from
  double lease_s = 0;  // seconds until its lease expires, while it runs
};

struct Status {
  bool present = false;  // does Redis hold this queue?
  int64_t units = 0, done = 0;
  std::vector<SegmentInfo> segments;
  std::vector<WorkerInfo> workers;
};

struct DoneUnit {
  int64_t unit = 0;
  // Empty if a rebuild of the queue found the unit's file in the store.
  std::string worker, digest;
  int64_t bytes = 0;
  double seconds = 0;
};

// An event of the queue (docs/formats.md, "Redis").
struct Event {
  std::string kind, segment, worker;
  int64_t unit = -1;  // -1: the event names no unit
};
struct News {
  std::vector<Event> events;
  // Some earlier events are lost. status() and the store tell the present state.
  bool missed = false;
};

// A unit that was executed, and whose file is published.
struct Commit {
  std::string segment, fence;
  int64_t unit = 0;
  std::string worker, digest;
  int64_t bytes = 0;
  double seconds = 0;
};

struct QueueOptions {
  std::chrono::milliseconds lease{10000};
  std::chrono::milliseconds timeout{2000};  // of one exchange with Redis
};

// Redis holds values that no version of Flor wrote. A user of Redis can write anything to their own keys.
class QueueDamaged : public RedisRefused {
 public:
  using RedisRefused::RedisRefused;
};

// Not thread-safe: use one object per thread. Any number of objects and processes can work on one queue.
// Every call can throw RedisDown when Redis cannot be used now, or, as StoreDown, when the store cannot; then
// it can be repeated. It can also throw RedisRefused, of which QueueDamaged is one, and core::Error where the
// plan cannot be read. Calls that change the queue build it from the store if Redis does not have it (see
// ensure).
class Queue {
 public:
  // `replay.path` is STORE/RUN/replays/REPLAY. The first call connects. Throws UsageError for a bad URL or
  // bad ids.
  Queue(const std::string& redis_url, core::ReplayDir replay, QueueOptions options = {});

  // Builds or rebuilds the queue if Redis does not have it. Units whose files exist count as done. The other
  // units of each planned segment become ready segments. The incarnation in the store grows, so that no old
  // token is valid or used again (docs/semantics.md, rule 23). A queue that survived a restart of Redis is
  // updated from the store, and its leases go on. Takes a lock in the replay's directory. Cheap when the
  // queue is there. Throws core::Error when this Redis is unfit (see unfit).
  void ensure(const core::Plan& plan);

  // Gives the worker the first ready segment, in plan order, whose next unit is `from` or later (-1: any). If
  // there is none, and the plan allows it, takes a part of a running segment, chosen by the work that is left
  // and the speed of each worker (queue/share.h).
  // A worker holds one segment at a time: a claim by a worker that holds one returns it again, with a new
  // token. `left` is the number of seconds until the worker is ended. The worker then gets only units that it
  // should finish in that time, or the answer `late`. A worker without a committed unit always gets one unit.
  Claim claim(const std::string& worker, int64_t from, std::optional<int64_t> left = {});

  // Extends the lease. The result is `lost` if the token is not the segment's present one.
  Standing renew(const std::string& segment, const std::string& fence);

  // Marks a unit as done. The result is `lost` if the token is not the segment's present one. Units must be
  // committed in order; those that an agent lost are committed first, where their files exist.
  Standing commit(const Commit& unit);

  // Hands [cur, hi) back. With an error, this counts as a failed try. After the third try in a row, the unit
  // `cur` fails, and the units after it become ready again. With an error and `give_up`, the whole segment
  // fails at once. Returns false, and changes nothing, if the token is not the present one.
  bool release(const std::string& segment, const std::string& fence, const std::string& error = "",
               bool give_up = false);

  // Splits a ready or running segment: [at, hi) becomes a new ready segment, whose id is returned. Returns
  // nullopt unless cur < at < hi.
  std::optional<std::string> split(const std::string& segment, int64_t at);

  // Hands back segments whose lease expired, or that run without one, and forgets workers that were silent
  // for long. Returns the number of segments.
  int64_t reap();

  // Reads the state of the queue and does not build it. The cost grows with the number of segments that ever
  // were. With many segments this is no snapshot: Redis serves other clients between the calls.
  Status status();
  // Returns the events since the last call. The first call returns all events that Redis still has.
  News news();
  // Returns the units that are done, in order, without the proof units. Does not build the queue.
  std::vector<DoneUnit> done();

  // Registers a worker. This object also remembers it, and registers it again when it claims from a queue
  // that was rebuilt.
  void join(const WorkerInfo& worker);
  void leave(const std::string& worker);

  // Deletes all keys of the queue. The next call that changes the queue builds it again.
  void remove();

  const core::ReplayDir& replay() const { return replay_; }

 private:
  Claim claim_any(const std::string& worker, int64_t from);
  Claim within(double left, const std::string& worker, int64_t from, const Segment& segment);
  Reply run(const Script& script, const std::vector<std::string>& args);
  Reply attempt(const Script& script, const std::vector<std::string>& args);
  Reply command(const std::vector<std::string>& words);
  // Calls `call` for as long as it returns true. Throws QueueDamaged if there is no end.
  void repeat(const std::function<bool()>& call) const;
  void throw_if_damaged(const RedisRefused& refused) const;
  [[noreturn]] void damaged(const std::string& what) const;
  Segment segment_of(const Reply& reply);
  Reply ask_for_segment(const std::string& worker, int64_t from, bool joined);
  void remove_keys(bool events);
  bool in_place();
  void rebuild();
  void build(const core::Plan& plan);
  Reply build_step(const Script& script, const std::vector<std::string>& args);
  void add(const Script& script, const std::string& builder, const std::vector<std::string>& words);
  bool adopt(const std::string& builder, const std::string& incarnation,
             const std::vector<std::string>& done);
  Standing commit_one(const Commit& unit, int64_t* hole);
  const Times& times();
  std::optional<std::vector<std::string>> what_to_take(const Reply& reply,
                                                       const std::vector<Running>& running,
                                                       const std::string& worker, int64_t from);
  double work_within(int64_t unit);
  const core::Plan& plan();  // read from the store at the first call

  Redis redis_;
  core::ReplayDir replay_;
  QueueOptions options_;
  std::string prefix_;
  std::optional<core::Plan> plan_;
  std::optional<Times> times_;
  std::string heard_;  // the id of the last event that news() returned
  // Workers that joined through this object. A rebuilt queue does not know them.
  std::map<std::string, WorkerInfo> joined_;
};

// Returns the reason why this Redis cannot hold a queue (it may evict keys, is read-only, is a cluster or too
// old), in one line that says what to do; nullopt if it can. Throws RedisDown when it does not answer.
std::optional<std::string> unfit(Redis& redis);

}  // namespace flor::queue
