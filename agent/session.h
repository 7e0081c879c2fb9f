// The state of one connection, of a replaying worker or of a recording, and the answers to its requests.
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

// The objects that all sessions share. Only the main thread may use it, except for the answers, the leases
// and the spooler, which are thread-safe.
struct Shared {
  Shared(std::string default_redis, queue::QueueOptions queue_options, Spooler::Options spooling)
      : redis(std::move(default_redis)),
        options(queue_options),
        leases(queue_options.lease),
        spooler(std::move(spooling)) {}

  // Returns the link of a replay or a recording, and creates it for the first session. Throws
  // core::UsageError for a bad URL.
  Link& replay_link(const Place& place);
  Link& record_link(const std::string& run_dir);
  // Ends links that no session uses and that have no work left. Returns true if an unused link still works:
  // then call this again.
  bool tend();

  const std::string redis;
  const queue::QueueOptions options;
  Answers answers;
  Leases leases;
  Spooler spooler;
  std::map<std::string, std::unique_ptr<Link>> links;
};

// Handles one request at a time. The main thread passes each request to the thread of the session's link, and
// waits with the next one until the answer to the last has come.
class Session {
 public:
  Session(Shared& shared, uint64_t id);
  ~Session() { end(""); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Returns the answer, without a newline, to a request that needs neither Redis nor the store. Returns
  // nullopt for other requests: pass these to answer(). A hello also chooses the link here. Call it from the
  // main thread. Throws Refusal.
  std::optional<std::string> answer_at_once(const Request& request);
  // Returns the link; nullptr before the hello. Its count of sessions belongs to the main thread.
  Link* link() const { return link_; }

  // Answers any other request. Call it from the link's thread. Throws Refusal.
  std::string answer(const Request& request);

  // Ends the session: the connection ended, or the worker died. Hands back its segment at once. With an empty
  // `why` the agent ends: then the segment is not handed back, because the living worker goes on with its
  // lease through the next agent. Call it from the link's thread.
  void end(const std::string& why) noexcept;

  // The name of the peer, for the log.
  const std::string& name() const { return name_; }

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
  bool recording_ = false;
  bool watching_ = false;  // the spooler watches its local tier
};

}  // namespace flor::agent
