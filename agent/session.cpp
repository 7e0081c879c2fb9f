#include "session.h"

#include <unistd.h>

#include <exception>
#include <utility>

#include "core/base/json.h"
#include "core/config/settings.h"
#include "log.h"

namespace flor::agent {
namespace {

using core::Json;

const char* const lost_answer = R"({"ok":true,"lost":true})";

std::string standing_answer(const queue::Standing& standing) {
  if (standing.lost) return lost_answer;
  Json out = {{"ok", true}, {"hi", standing.hi}};
  if (standing.again) out["again"] = true;
  return core::json_text(out);
}

}  // namespace

Link& Shared::replay_link(const Place& place) {
  const std::string key = "replay " + place.key();
  if (const auto at = links.find(key); at != links.end()) return *at->second;
  return *links.emplace(key, std::make_unique<Link>(place, options, leases)).first->second;
}

Link& Shared::record_link(const std::string& run_dir) {
  auto& link = links["record " + run_dir];
  if (!link) link = std::make_unique<Link>();
  return *link;
}

bool Shared::tend() {
  bool any = false;
  for (auto at = links.begin(); at != links.end();) {
    if (at->second->end_if_unused()) {
      at = links.erase(at);
    } else {
      any = any || at->second->sessions == 0;
      ++at;
    }
  }
  return any;
}

Session::Session(Shared& shared, uint64_t id)
    : shared_(shared),
      id_(id),
      chance_(static_cast<unsigned>(::getpid()) * 257U + static_cast<unsigned>(id)) {}

// Turns any exception into a Refusal: asking again would not help (a wrong URL, no plan, an unfit Redis).
template <class Call>
auto or_refuse(Call call) {
  try {
    return call();
  } catch (const Refusal&) {
    throw;
  } catch (const std::exception& problem) {
    throw Refusal(problem.what());
  }
}

std::optional<std::string> Session::answer_at_once(const Request& request) {
  return or_refuse([&]() -> std::optional<std::string> {
    if (const auto* replay = std::get_if<HelloReplay>(&request)) {
      connect(*replay);
    } else if (const auto* record = std::get_if<HelloRecord>(&request)) {
      connect(*record);
    } else if (std::holds_alternative<ProgressRequest>(request) || link_ == nullptr) {
      return answer(request);
    }
    return std::nullopt;
  });
}

std::string Session::answer(const Request& request) {
  return or_refuse([&] { return std::visit([this](const auto& r) { return on(r); }, request); });
}

void Session::connect(const HelloReplay& hello) {
  if (link_ != nullptr) throw Refusal("a second hello");
  const std::string& redis = hello.redis.empty() ? shared_.redis : hello.redis;
  if (redis.empty()) {
    throw Refusal(
        "no Redis is configured: set FLOR_REDIS, or redis in flor.conf, to one that all nodes reach");
  }
  link_ = &shared_.replay_link({redis, core::RunDir{hello.run_dir}.replay(hello.replay)});
  ++link_->sessions;
  name_ = "worker " + hello.worker + " of replay " + hello.replay;
}

void Session::connect(const HelloRecord& hello) {
  if (link_ != nullptr) throw Refusal("a second hello");
  link_ = &shared_.record_link(hello.run_dir);
  ++link_->sessions;
  name_ = "recording " + hello.run;
}

std::string Session::on(const HelloReplay& hello) {
  const core::RunDir run{hello.run_dir};
  Replay replay;
  replay.place = {hello.redis.empty() ? shared_.redis : hello.redis, run.replay(hello.replay)};
  if (!core::fs::exists(replay.place.replay.plan())) {
    throw Refusal("there is no " + replay.place.replay.plan().string() +
                  "; is the store the same on all nodes?");
  }
  replay.worker = hello.worker;
  replay_ = std::move(replay);
  queue::WorkerInfo info;
  info.id = hello.worker;
  info.node = hello.node.empty() ? core::node_name() : hello.node;
  info.gpu = hello.gpu;
  info.job = hello.job;
  info.task = hello.task;
  info.pid = hello.pid;
  link_->queue().join(info);
  log_line(name() + " is here" + (hello.segment.empty() ? "" : ", going on with segment " + hello.segment));
  return resume(hello);
}

// Returns the answer to a hello: the seconds between signs of life ("beat"), and, if the worker goes on with
// a lease, its state.
std::string Session::resume(const HelloReplay& hello) {
  const double beat = static_cast<double>(shared_.options.lease.count()) / 10000;
  Json out = {{"ok", true}, {"beat", beat}};
  if (!hello.segment.empty()) {
    const queue::Segment segment{hello.segment, 0, hello.hi, 0, hello.fence};
    const auto standing = link_->queue().renew(segment.id, segment.fence);
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
  recording_ = true;
  if (!hello.local.empty()) shared_.spooler.watch(hello.local, hello.run_dir);
  watching_ = !hello.local.empty();
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
  const auto claim = link_->queue().claim(replay.worker, request.from, request.left);
  if (!claim) return wait_answer(0, link_->queue().trouble());
  let_go();
  switch (claim->kind) {
    case queue::ClaimKind::wait:
      return wait_answer(claim->left, "");
    case queue::ClaimKind::done:
      return R"({"ok":true,"done":true})";
    case queue::ClaimKind::behind:
      return R"({"ok":true,"behind":true})";
    case queue::ClaimKind::late:
      return R"({"ok":true,"late":true})";
    case queue::ClaimKind::segment:
      break;
  }
  idle_.reset();
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

std::string Session::wait_answer(double left, const std::string& why) {
  const double chance = std::uniform_real_distribution<double>()(chance_);
  Json out = {{"ok", true}, {"wait", idle_.next(left, chance)}};
  if (!why.empty()) out["why"] = why;
  return core::json_text(out);
}

std::string Session::on(const ProgressRequest& progress) {
  auto& replay = replaying();
  shared_.leases.heard(id_);
  const auto standing = shared_.leases.standing(id_);
  if (!standing || !replay.held || replay.held->id != progress.segment) return lost_answer;
  if (standing->lost) let_go();
  return standing_answer(*standing);
}

std::string Session::on(const RecordProgress& /*progress*/) {
  if (!recording_) throw Refusal("the first request of a recording is a hello in mode record");
  if (watching_) shared_.spooler.wake();  // an iteration ended, so there may be a new checkpoint
  return R"({"ok":true})";
}

std::string Session::on(const CommitRequest& request) {
  auto& replay = replaying();
  if (!replay.held || replay.held->id != request.segment) return lost_answer;
  shared_.leases.heard(id_);
  const auto found =
      link_->queue().commit(id_, {request.segment, replay.held->fence, request.unit, replay.worker,
                                  request.digest, request.bytes, request.seconds});
  if (found) shared_.leases.update(id_, replay.held->fence, *found);
  // Without a result, the call is remembered. The unit's file is in the store, so no data can be lost, and
  // the worker goes on with the known end of its segment.
  const auto standing =
      found ? *found : shared_.leases.standing(id_).value_or(queue::Standing{true, false, 0});
  if (standing.lost || request.unit + 1 >= standing.hi) let_go();
  return standing_answer(standing);
}

std::string Session::on(const ReleaseRequest& request) {
  auto& replay = replaying();
  if (replay.held && replay.held->id == request.segment) {
    link_->queue().release(replay.held->id, replay.held->fence, request.error);
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
        link_->queue().release(replay_->held->id, replay_->held->fence,
                               "worker " + replay_->worker + " " + why);
      }
      link_->queue().leave(replay_->worker);
    }
    shared_.leases.drop(id_);
  } catch (const std::exception& problem) {
    log_line(problem.what());
  }
  replay_.reset();
}

}  // namespace flor::agent
