#include "core/recording/outermost_loop.h"

#include <algorithm>
#include <utility>

#include "core/base/clock.h"
#include "core/session/mismatch.h"

namespace flor::core {
namespace {

std::string row_of(const char* kind, const RecordedLoop& loop) {
  Json row = {{"kind", kind}};
  row.update(to_json(loop));
  return row.dump();
}

}  // namespace

void LoopEnvironment::enter(Frontend& frontend, Recording& recording, bool resumed) {
  Manifest& manifest = recording.manifest();
  if (!resumed) {
    environment_ = frontend.environment();
    preset_ = frontend.preset();
    if (manifest.loops.empty()) keep(manifest);
    return;
  }
  environment_ = manifest.environment;
  preset_ = manifest.preset;
  frontend.apply(environment_);
  const std::string differences = mismatch(environment_, frontend.environment());
  if (differences.empty()) return;
  recording.remark("resumed in another environment, so that bits may differ from here on: " + differences);
}

void LoopEnvironment::keep(Manifest& manifest) const {
  manifest.environment = environment_;
  manifest.preset = preset_;
}

RecordedLoop recorded_loop(const std::string& name, const LoopSpec& loop, bool guarded) {
  RecordedLoop out;
  out.name = name;
  out.range = loop.range;
  out.one_pass = loop.one_pass;
  out.begin = loop.begin;
  out.end = loop.end;
  out.guarded = guarded;
  return out;
}

OutermostLoop::OutermostLoop(RecordedLoop info, Recording& recording, Frontend& frontend,
                             const Resumption* resumption)
    : info_(std::move(info)), recording_(recording), resumption_(resumption) {
  const bool resumed = resumption_ != nullptr && resumption_->manifest().main_loop()->name == info_.name;
  environment_.enter(frontend, recording_, resumed);
  in_manifest() = info_;
  recording_.append(timeline_file, row_of("loop", info_));
  recording_.save_manifest_at_loop();
}

// Returns the loop's entry. A resumed loop keeps its position in the manifest.
RecordedLoop& OutermostLoop::in_manifest() {
  auto& loops = recording_.manifest().loops;
  const auto at =
      std::find_if(loops.begin(), loops.end(), [&](const auto& loop) { return loop.name == info_.name; });
  return at != loops.end() ? *at : loops.emplace_back();
}

std::optional<double> OutermostLoop::usual_seconds() const {
  const int64_t ended = info_.iterations - (iterating_ ? 1 : 0);
  if (ended <= 0) return std::nullopt;
  return info_.seconds / static_cast<double>(ended);
}

void OutermostLoop::resume(const Resumption::Entry& entry) {
  entry_ = entry;
  info_.iterations = entry.before;
  info_.last = entry.before > 0 ? entry.next - 1 : -1;
  info_.seconds = entry.seconds;
  recording_.append(timeline_file, Json({{"kind", "resumed"},
                                         {"attempt", recording_.manifest().attempt},
                                         {"loop", info_.name},
                                         {"next", entry.next},
                                         {"restored", entry.before > 0},
                                         {"time", wall_seconds()}})
                                       .dump());
}

std::optional<Resumption::Entry> OutermostLoop::take_entry() {
  return std::exchange(entry_, std::nullopt);
}

void OutermostLoop::begin(int64_t value) {
  info_.last = value;
  info_.iterations += 1;
  iterating_ = true;
  last_ = info_.end >= 0 && value + 1 >= info_.end;
  timer_ = {recording_.checkpointer(), resumption_};
}

double OutermostLoop::end(const std::string& at) {
  iterating_ = false;
  const double seconds = timer_.elapsed();
  info_.seconds += seconds;
  recording_.append(timeline_file, Json({{"kind", "iteration"},
                                         {"at", at},
                                         {"loop", info_.name},
                                         {"value", info_.last},
                                         {"seconds", seconds}})
                                       .dump());
  return seconds;
}

bool OutermostLoop::end_step(const std::string& at, const std::string& inner, int64_t next,
                             bool may_be_others) {
  // No manifest is written here, where training would wait for the store: the row below says it, too.
  if (info_.inner.empty()) info_.inner = in_manifest().inner = inner;
  if (info_.inner != inner && !may_be_others) return false;
  recording_.append(timeline_file, Json({{"kind", "step"},
                                         {"at", at},
                                         {"loop", info_.name},
                                         {"inner", info_.inner},
                                         {"next", next},
                                         {"into", timer_.elapsed()}})
                                       .dump());
  return true;
}

void OutermostLoop::leave(LoopEnd how) {
  info_.ended = how;
  RecordedLoop& recorded = in_manifest();
  recorded = info_;
  if (recording_.manifest().main_loop() == &recorded) environment_.keep(recording_.manifest());
  recording_.append(timeline_file, row_of("loop_end", info_));
}

}  // namespace flor::core
