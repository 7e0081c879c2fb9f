// The state of one connection: a replaying worker or a recording.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "answers.h"
#include "idle_wait.h"
#include "leases.h"
#include "link.h"
#include "messages.h"
#include "spooler.h"

namespace flor::agent {

// What the sessions share. Only the main thread may use it, apart from the answers, the leases and the
// spooler, which are thread-safe.
struct Shared {
  Shared(std::string default_redis, queue::QueueOptions queue_options, Spooler::Options spooling)
      : redis(std::move(default_redis)),
        options(queue_options),
        leases(queue_options.lease),
        spooler(std::move(spooling)) {}

  // The link of a replay or a recording, made when the first session asks. Throws core::UsageError.
  Link& replay_link(const Place& place);
  Link& record_link(const std::string& redis, const std::string& run_dir);
  // Ends links that no session uses and that have nothing left to do. Returns whether such a link is still at
  // work, so that this must be called again.
  bool tend();

  const std::string redis;
  const queue::QueueOptions options;
  Answers answers;
  Leases leases;
  Spooler spooler;
  std::map<std::string, std::unique_ptr<Link>> links;
};

// Its requests come one after another: the main thread passes each on to the thread of the session's link,
// and none in front of the answer to the last.
class Session {
 public:
  Session(Shared& shared, uint64_t id);
  ~Session() { end(""); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Answers, without a newline, what needs neither Redis nor the store; a hello also chooses the link.
  // Returns nothing for other requests: these go to answer(). Call it from the main thread. Throws Refusal.
  std::optional<std::string> answer_at_once(const Request& request);
  Link* link() const { return link_; }  // of which the main thread counts the sessions

  // Answers any other request. Call it from the link's thread. Throws Refusal.
  std::string answer(const Request& request);

  // The connection ended or the worker died: what it holds is handed back at once. Empty `why`: the agent
  // ends, and leases are left to the living workers, who go on with them through the next agent. Of the
  // link's thread.
  void end(const std::string& why) noexcept;

  const std::string& name() const { return name_; }  // of the peer, for the log

 private:
  void connect(const HelloReplay& hello);
  void connect(const HelloRecord& hello);
  std::string on(const HelloReplay& hello);
  std::string on(const HelloRecord& hello);
  std::string on(const ClaimRequest& claim);
  std::string on(const ProgressRequest& progress);
  std::string on(const RecordProgress& progress);
  std::string on(const CommitRequest& commit);
  std::string on(const ReleaseRequest& release);
  std::string on(const SpoolRequest& spool);

  struct Replay {
    Place place;
    std::string worker;
    std::optional<queue::Segment> held;
  };
  Replay& replaying();
  std::string wait_answer(double left, const std::string& why);
  std::string resume(const HelloReplay& hello);
  void let_go();

  Shared& shared_;
  const uint64_t id_;
  std::string name_ = "a connection";
  Link* link_ = nullptr;
  IdleWait idle_;
  std::minstd_rand chance_;
  std::optional<Replay> replay_;
  std::optional<HelloRecord> record_;
  bool watching_ = false;  // its local tier
};

}  // namespace flor::agent
