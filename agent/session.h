// The state of one connection: a replaying worker or a recording.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "leases.h"
#include "messages.h"
#include "queue_link.h"
#include "record_link.h"
#include "spooler.h"

namespace flor::agent {

// What the sessions share. Of the main thread, but for the leases and the spooler.
struct Shared {
  Shared(std::string default_redis, queue::QueueOptions queue_options, Spooler::Options spooling)
      : redis(std::move(default_redis)),
        options(queue_options),
        leases(queue_options),
        spooler(std::move(spooling)) {}

  // The link to a place, made when the first session asks.
  QueueLink& link(const Place& place);
  // Retries what was remembered, and forgets links that nobody needs.
  void tend();
  bool pending() const;

  const std::string redis;
  const queue::QueueOptions options;
  Leases leases;
  RecordLink records;
  Spooler spooler;
  std::map<std::string, std::unique_ptr<QueueLink>> links;
};

class Session {
 public:
  Session(Shared& shared, uint64_t id) : shared_(shared), id_(id) {}
  ~Session() { end(""); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The line that answers, without its newline. Throws Refusal.
  std::string answer(std::string_view line);

  // The connection ended or the worker died: what it holds is handed back at once. Empty `why`: the agent
  // ends, and leases are left to the living workers, who go on with them through the next agent.
  void end(const std::string& why) noexcept;

  std::string name() const;  // of the peer, for the log

 private:
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
    QueueLink* link = nullptr;
    std::optional<queue::Segment> held;
  };
  Replay& replaying();
  std::string resume(const HelloReplay& hello);
  void let_go();

  Shared& shared_;
  const uint64_t id_;
  std::optional<Replay> replay_;
  std::optional<HelloRecord> record_;
  bool watching_ = false;  // its local tier
};

}  // namespace flor::agent
