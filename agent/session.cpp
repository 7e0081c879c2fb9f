#include "session.h"

#include <exception>
#include <utility>

#include "core/json.h"
#include "core/settings.h"
#include "log.h"

namespace flor::agent {
namespace {

using core::Json;

constexpr double wait_seconds = 0.5;

const char* const lost_answer = R"({"ok":true,"lost":true})";

std::string standing_answer(const queue::Standing& standing) {
  if (standing.lost) return lost_answer;
  Json out = {{"ok", true}, {"hi", standing.hi}};
  if (standing.again) out["again"] = true;
  return core::json_text(out);
}

}  // namespace

QueueLink& Shared::link(const Place& place) {
  auto& slot = links[place.key()];
  try {
    if (!slot) slot = std::make_unique<QueueLink>(place, options, leases);
  } catch (...) {
    links.erase(place.key());
    throw;
  }
  return *slot;
}

void Shared::tend() {
  for (auto at = links.begin(); at != links.end();) {
    if (at->second->pending()) at->second->retry();
    if (at->second->sessions == 0 && !at->second->pending()) {
      at = links.erase(at);
    } else {
      ++at;
    }
  }
}

bool Shared::pending() const {
  for (const auto& [key, link] : links) {
    if (link->pending()) return true;
  }
  return false;
}

std::string Session::name() const {
  if (replay_) return "worker " + replay_->worker + " of replay " + replay_->place.replay.id();
  if (record_) return "recording " + record_->run;
  return "a connection";
}

std::string Session::answer(std::string_view line) {
  const Request request = parse_request(line);
  try {
    return std::visit([this](const auto& r) { return on(r); }, request);
  } catch (const Refusal&) {
    throw;
  } catch (
      const std::exception& problem) {  // asking again would not help: a wrong URL, no plan, an unfit Redis
    throw Refusal(problem.what());
  }
}

std::string Session::on(const HelloReplay& hello) {
  if (replay_ || record_) throw Refusal("a second hello");
  const std::string& redis = hello.redis.empty() ? shared_.redis : hello.redis;
  if (redis.empty()) {
    throw Refusal(
        "no Redis is configured: set FLOR_REDIS, or redis in flor.conf, to one that all nodes reach");
  }
  const core::RunDir run{hello.run_dir};
  Replay replay;
  replay.place = {redis, run.replay(hello.replay)};
  if (!core::fs::exists(replay.place.replay.plan())) {
    throw Refusal("there is no " + replay.place.replay.plan().string() +
                  "; is the store the same on all nodes?");
  }
  replay.worker = hello.worker;
  replay.link = &shared_.link(replay.place);
  ++replay.link->sessions;
  shared_.leases.watch(replay.place);
  replay_ = std::move(replay);
  queue::WorkerInfo info;
  info.id = hello.worker;
  info.node = hello.node.empty() ? core::node_name() : hello.node;
  info.gpu = hello.gpu;
  info.job = hello.job;
  info.task = hello.task;
  info.pid = hello.pid;
  replay_->link->join(info);
  log_line(name() + " is here" + (hello.segment.empty() ? "" : ", going on with segment " + hello.segment));
  return resume(hello);
}

// The sign of life that is expected, and where the worker goes on with a lease, how it stands.
std::string Session::resume(const HelloReplay& hello) {
  const double beat = static_cast<double>(shared_.options.lease.count()) / 10000;
  Json out = {{"ok", true}, {"beat", beat}};
  if (!hello.segment.empty()) {
    const queue::Segment segment{hello.segment, 0, hello.hi, 0, hello.fence};
    const auto standing = replay_->link->renew(segment.id, segment.fence);
    if (standing && standing->lost) {
      out["lost"] = true;
    } else {
      replay_->held = segment;
      if (standing) replay_->held->hi = standing->hi;
      shared_.leases.hold(id_, replay_->place, replay_->worker, *replay_->held);
      out["hi"] = replay_->held->hi;
    }
  }
  return core::json_text(out);
}

std::string Session::on(const HelloRecord& hello) {
  if (replay_ || record_) throw Refusal("a second hello");
  record_ = hello;
  if (record_->redis.empty()) record_->redis = shared_.redis;
  if (!record_->redis.empty()) queue::RedisUrl::parse(record_->redis);
  if (!record_->local.empty()) shared_.spooler.watch(record_->local, record_->run_dir);
  watching_ = !record_->local.empty();
  log_line(name() + " is here");
  return R"({"ok":true})";
}

Session::Replay& Session::replaying() {
  if (!replay_) throw Refusal("the first request of a replaying worker is a hello in mode replay");
  return *replay_;
}

void Session::let_go() {
  shared_.leases.drop(id_);
  replay_->held.reset();
}

std::string Session::on(const ClaimRequest& request) {
  auto& replay = replaying();
  const auto claim = replay.link->claim(replay.worker, request.from, request.left);
  if (!claim) return core::json_text({{"ok", true}, {"wait", wait_seconds}, {"why", replay.link->trouble()}});
  let_go();
  switch (claim->kind) {
    case queue::ClaimKind::wait:
      return core::json_text({{"ok", true}, {"wait", wait_seconds}});
    case queue::ClaimKind::done:
      return R"({"ok":true,"done":true})";
    case queue::ClaimKind::behind:
      return R"({"ok":true,"behind":true})";
    case queue::ClaimKind::late:
      return R"({"ok":true,"late":true})";
    case queue::ClaimKind::segment:
      break;
  }
  const auto& segment = claim->segment;
  replay.held = segment;
  shared_.leases.hold(id_, replay.place, replay.worker, segment);
  log_line(name() + " has segment " + segment.id + ": units " + std::to_string(segment.cur) + " to " +
           std::to_string(segment.hi - 1));
  return core::json_text({{"ok", true},
                          {"segment", segment.id},
                          {"lo", segment.lo},
                          {"hi", segment.hi},
                          {"cur", segment.cur},
                          {"fence", segment.fence}});
}

std::string Session::on(const ProgressRequest& progress) {
  auto& replay = replaying();
  shared_.leases.heard(id_);
  const auto standing = shared_.leases.standing(id_);
  if (!standing || !replay.held || replay.held->id != progress.segment) return lost_answer;
  if (standing->lost) let_go();
  return standing_answer(*standing);
}

std::string Session::on(const RecordProgress& progress) {
  if (!record_) throw Refusal("the first request of a recording is a hello in mode record");
  shared_.records.publish(record_->redis, record_->run, progress);
  if (watching_) shared_.spooler.wake();  // an iteration ended: there may be a checkpoint
  return R"({"ok":true})";
}

std::string Session::on(const CommitRequest& request) {
  auto& replay = replaying();
  if (!replay.held || replay.held->id != request.segment) return lost_answer;
  shared_.leases.heard(id_);
  const auto found =
      replay.link->commit(id_, {request.segment, replay.held->fence, request.unit, replay.worker,
                                request.digest, request.bytes, request.seconds});
  if (found) shared_.leases.update(id_, replay.held->fence, *found);
  // Remembered: the unit's file is in the store, so nothing can be lost, and the worker goes on with what is
  // known.
  const auto standing =
      found ? *found : shared_.leases.standing(id_).value_or(queue::Standing{true, false, 0});
  if (standing.lost || request.unit + 1 >= standing.hi) let_go();
  return standing_answer(standing);
}

std::string Session::on(const ReleaseRequest& request) {
  auto& replay = replaying();
  if (replay.held && replay.held->id == request.segment) {
    replay.link->release(replay.held->id, replay.held->fence, request.error);
    log_line(name() + " released segment " + request.segment +
             (request.error.empty() ? "" : ": " + request.error));
    let_go();
  }
  return R"({"ok":true})";
}

std::string Session::on(const SpoolRequest& /*request*/) {
  if (!watching_)
    throw Refusal("the first request of a recording with a local tier is a hello that names it");
  shared_.spooler.wake();
  return core::json_text({{"ok", true}, {"service", shared_.spooler.is_service()}});
}

void Session::end(const std::string& why) noexcept {
  if (watching_) shared_.spooler.unwatch();
  watching_ = false;
  if (!replay_) return;
  try {
    if (!why.empty()) {
      if (replay_->held) {
        log_line(name() + " held segment " + replay_->held->id + " and " + why);
        replay_->link->release(replay_->held->id, replay_->held->fence,
                               "worker " + replay_->worker + " " + why);
      }
      replay_->link->leave(replay_->worker);
    }
    shared_.leases.drop(id_);
    shared_.leases.unwatch(replay_->place);
    --replay_->link->sessions;
  } catch (const std::exception& problem) {
    log_line(problem.what());
  }
  replay_.reset();
}

}  // namespace flor::agent
