// The work queue of one replay: segments, leases and fencing tokens in Redis, changed by Lua scripts only.
// Redis coordinates, the store is the truth: a queue that Redis lost is rebuilt from plan.json and units/ by
// whichever call finds it gone. Keys and scripts: docs/formats.md, "Redis".
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

// A lease on a contiguous range of units. `cur` is the unit to execute next.
struct Segment {
  std::string id;
  int64_t lo = 0, hi = 0, cur = 0;  // units lo … hi-1
  std::string fence;                // the fencing token, INCARNATION.COUNTER
};

// segment: it is yours. wait: nothing now, ask again. done: nothing is left to do (failed segments may be
// left). behind: only units before `from` are left. late: none that is left can be done in the worker's time.
enum class ClaimKind { segment, wait, done, behind, late };
struct Claim {
  ClaimKind kind = ClaimKind::wait;
  Segment segment;
  double left = 0;  // of wait and behind: seconds until what runs is expected to be over; 0: not known
};

// What a renewal or a commit found.
struct Standing {
  bool lost = false;   // the segment, or this unit of it, is no longer this worker's
  bool again = false;  // the unit was done before
  int64_t hi = 0;      // the segment's present end
};

struct WorkerInfo {
  std::string id, node, gpu, job, task;
  int64_t pid = 0, units = 0;  // units: committed, filled in by status()
  double last_seen_s = 0;      // seconds since its last sign of life, filled in by status()
  std::string segment;         // that it holds now, filled in by status()
};

struct SegmentInfo {
  std::string id;
  int64_t lo = 0, hi = 0, cur = 0;
  std::string state;   // ready, running, done, failed
  std::string owner;   // of a running one
  int64_t tries = 0;   // failed attempts since the last committed unit
  std::string error;   // of the last failed attempt
  std::string parent;  // the segment it was split from
  double lease_s = 0;  // seconds until the lease of a running one runs out
};

struct Status {
  bool present = false;  // does Redis hold this queue?
  int64_t units = 0, done = 0;
  std::vector<SegmentInfo> segments;
  std::vector<WorkerInfo> workers;
};

struct DoneUnit {
  int64_t unit = 0;
  std::string worker, digest;  // empty where the unit was found in the store when the queue was rebuilt
  int64_t bytes = 0;
  double seconds = 0;
};

// One of the queue's events (docs/formats.md, "Redis").
struct Event {
  std::string kind, segment, worker;
  int64_t unit = -1;  // -1: of none
};
struct News {
  std::vector<Event> events;
  bool missed = false;  // some events before these are gone: status() and the store tell what they told
};

// A unit that was executed and whose file is published.
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

// Redis holds what no version of Flor wrote: a user of Redis can write anything into their own keys.
class QueueDamaged : public RedisRefused {
 public:
  using RedisRefused::RedisRefused;
};

// Not thread-safe: one object per thread; any number of objects and processes may work on one queue.
// Every call throws RedisDown when Redis cannot be used now, and may then simply be repeated, and
// QueueDamaged. Calls that change the queue build or rebuild it from the store when Redis does not have it
// (see ensure).
class Queue {
 public:
  // `replay.path` is STORE/RUN/replays/REPLAY. Connects at the first call. Throws UsageError for a bad URL or
  // ids.
  Queue(const std::string& redis_url, core::ReplayDir replay, QueueOptions options = {});

  // Builds the queue where Redis has none, or rebuilds it: units whose files exist count as done, the others
  // of each planned segment become ready segments, and the incarnation in the store grows, so that no old
  // token is valid or handed out again. A queue that survived a restart of Redis is brought up to date with
  // the store; its leases go on. Under a lock in the replay's directory. Cheap when all is in place. Throws
  // core::Error when this Redis is unfit (see unfit).
  void ensure(const core::Plan& plan);

  // A ready segment whose next unit is `from` or later (-1: any), in plan order; else, unless the plan says
  // otherwise, a part of a running one, by what is left of each and how fast its worker is (queue/share.h). A
  // worker holds one segment at a time: claiming while holding one hands the same out again, with a new
  // token. `left`: seconds until the worker is ended. It gets no more than it is expected to be done with by
  // then, as its first unit whatever there is, and `late` when nothing fits any more.
  Claim claim(const std::string& worker, int64_t from, std::optional<int64_t> left = {});

  Standing renew(const std::string& segment, const std::string& fence);

  // Refused (lost) without the segment's present token. Units are committed in order.
  Standing commit(const Commit& unit);

  // Hands [cur, hi) back. With an error it counts as a try, and the third without a committed unit, or
  // `give_up`, makes the segment failed. False when the token is not the present one: nothing is changed.
  bool release(const std::string& segment, const std::string& fence, const std::string& error = "",
               bool give_up = false);

  // Cuts a ready or running segment: [at, hi) becomes a ready segment of its own, whose id is returned.
  // Nothing when `at` is not behind the segment's next unit or not before its end.
  std::optional<std::string> split(const std::string& segment, int64_t at);

  // Hands back segments whose lease ran out, or that run without one; forgets workers long silent. How many
  // segments.
  int64_t reap();

  // Does not build: `present` is false where Redis has no queue. Costs as much as there ever were segments.
  // Of many the first may be older than the last: Redis serves others in between.
  Status status();
  // The events since the last call; of the first, all that are kept. Costs as much as there are.
  News news();
  std::vector<DoneUnit> done();

  // Tells who works; also remembered here, so that a rebuilt queue learns it with the worker's next claim.
  void join(const WorkerInfo& worker);
  void leave(const std::string& worker);

  // Deletes all keys of the queue. The next call that changes it would build it anew.
  void remove();

  const core::ReplayDir& replay() const { return replay_; }

 private:
  Claim claim_any(const std::string& worker, int64_t from);
  Claim within(double left, const std::string& worker, int64_t from, const Segment& segment);
  Reply run(const Script& script, const std::vector<std::string>& args);
  Reply attempt(const Script& script, const std::vector<std::string>& args);
  Reply command(const std::vector<std::string>& words);
  void repeat(const std::function<bool()>& call) const;  // while it returns true
  void throw_if_damaged(const RedisRefused& refused) const;
  [[noreturn]] void damaged(const std::string& what) const;
  Segment segment_of(const Reply& reply);
  Reply ask_for_segment(const std::string& worker, int64_t from, bool joined);
  void remove_keys(bool events);
  bool in_place();
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
  const core::Plan& plan();  // read when first needed

  Redis redis_;
  core::ReplayDir replay_;
  QueueOptions options_;
  std::string prefix_;
  std::optional<core::Plan> plan_;
  std::optional<Times> times_;
  std::string heard_;  // the id of the last event that news() returned
  std::map<std::string, WorkerInfo>
      joined_;  // announced again with every claim: a rebuilt queue does not know them
};

// Why this Redis cannot carry a queue (it may evict keys, cannot be written, is a cluster, is too old), in
// one line that says what to do; nothing when it is fit. Throws RedisDown when it cannot be asked.
std::optional<std::string> unfit(Redis& redis);

// Appends to the stream `{RUN}:events` of this login (key_prefix, queue/acl.h), what a recording tells. At
// most about 10,000 events are kept.
void publish_record_event(Redis& redis, const std::string& run,
                          const std::vector<std::pair<std::string, std::string>>& fields);

}  // namespace flor::queue
