#include "core/store/manifest.h"

#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/base/is_below.h"
#include "core/files/durable.h"
#include "core/files/shared_directory.h"
#include "core/files/trusted_file.h"
#include "core/process/user_name.h"
#include "core/store/timeline.h"

namespace flor::core {

const char* to_string(LoopEnd end) {
  switch (end) {
    case LoopEnd::exhausted:
      return "exhausted";
    case LoopEnd::early:
      return "early";
    case LoopEnd::unwound:
      return "unwound";
    case LoopEnd::running:
      break;
  }
  return "running";
}

LoopEnd loop_end_from(const std::string& text) {
  for (LoopEnd end : {LoopEnd::exhausted, LoopEnd::early, LoopEnd::unwound}) {
    if (text == to_string(end)) return end;
  }
  return LoopEnd::running;
}

const RecordedLoop* Manifest::main_loop() const {
  const RecordedLoop* longest = nullptr;
  for (const auto& loop : loops) {
    if (longest == nullptr || loop.seconds > longest->seconds) longest = &loop;
  }
  return longest;
}

bool Manifest::ended_behind_loop() const {
  return status != "recording" && main_loop() != nullptr && main_loop()->ended != LoopEnd::running;
}

Json to_json(const RecordedLoop& loop) {
  return {{"name", loop.name},
          {"range", loop.range},
          {"one_pass", loop.one_pass},
          {"begin", loop.begin},
          {"end", loop.end},
          {"ended", to_string(loop.ended)},
          {"iterations", loop.iterations},
          {"last", loop.last},
          {"seconds", loop.seconds},
          {"guarded", loop.guarded},
          {"inner", loop.inner}};
}

namespace {

template <class Row>
RecordedLoop loop_from(const Row& json) {
  RecordedLoop loop;
  loop.name = field<std::string>(json, "name", "");
  loop.range = field(json, "range", true);
  loop.one_pass = field(json, "one_pass", false);
  loop.begin = field<int64_t>(json, "begin", 0);
  loop.end = field<int64_t>(json, "end", -1);
  loop.ended = loop_end_from(field<std::string>(json, "ended", ""));
  loop.iterations = field<int64_t>(json, "iterations", 0);
  loop.last = field<int64_t>(json, "last", -1);
  loop.seconds = field(json, "seconds", 0.0);
  loop.guarded = field(json, "guarded", false);
  loop.inner = field<std::string>(json, "inner", "");
  return loop;
}

using Strings = std::vector<std::string>;
using Map = std::map<std::string, std::string>;

Json sources_json(const std::vector<RecordedSource>& sources) {
  Json out = Json::array();
  for (const auto& source : sources) {
    out.push_back(
        {{"path", source.path}, {"file", source.file}, {"digest", source.digest}, {"newer", source.newer}});
    if (source.interpreted) out.back()["interpreted"] = true;
  }
  return out;
}

}  // namespace

Json to_json(const Manifest& m) {
  Json loops = Json::array();
  for (const auto& loop : m.loops) loops.push_back(to_json(loop));
  const RecordedLoop* main = m.main_loop();
  Json policy = {{"epsilon", m.epsilon},
                 {"every", m.every},
                 {"mtbf", m.mtbf ? Json(*m.mtbf) : Json()},
                 {"step_seconds", m.step_seconds ? Json(*m.step_seconds) : Json()},
                 {"materializer", m.materializer},
                 {"keep", m.keep}};
  if (!m.local.empty()) {
    policy["local"] = m.local;
    policy["node"] = m.host;
  }
  Json slurm = {{"job", m.slurm_job}, {"step", m.slurm_step}};
  if (!m.slurm_array.empty()) slurm.update({{"array", m.slurm_array}, {"task", m.slurm_task}});
  return {{"format", 1},
          {"id", m.id},
          {"name", m.name},
          {"status", m.status},
          {"exit_code", m.exit_code ? Json(*m.exit_code) : Json()},
          {"command", m.command},
          {"cwd", m.cwd},
          {"host", m.host},
          {"user", m.user},
          {"pid", m.pid},
          {"slurm", slurm},
          {"rank", m.rank},
          {"world", m.world},
          {"attempt", m.attempt},
          {"started", m.started},
          {"finished", m.finished ? Json(*m.finished) : Json()},
          {"environment", m.environment},
          {"preset", m.preset},
          {"binary", m.binary},
          {"binary_digest", m.binary_digest},
          {"start_environment", m.start_environment},
          {"sources", sources_json(m.sources)},
          {"unresolved", m.unresolved},
          {"args", m.args},
          {"policy", policy},
          {"overhead", m.overhead ? Json(*m.overhead) : Json()},
          {"loops", loops},
          {"main_loop", main != nullptr ? Json(main - m.loops.data()) : Json()},
          {"complete", m.complete()},
          {"warnings", m.warnings}};
}

Manifest manifest_from(const Json& json) {
  Manifest m;
  m.id = field<std::string>(json, "id", "");
  m.name = field<std::string>(json, "name", "");
  m.status = field<std::string>(json, "status", "recording");
  if (json.contains("exit_code") && json["exit_code"].is_number_integer())
    m.exit_code = json["exit_code"].get<int>();
  m.command = field<Strings>(json, "command", {});
  m.cwd = field<std::string>(json, "cwd", "");
  m.host = field<std::string>(json, "host", "");
  m.user = field<std::string>(json, "user", "");
  m.pid = field<int64_t>(json, "pid", 0);
  const Json slurm = field<Json>(json, "slurm", Json::object());
  m.slurm_job = field<std::string>(slurm, "job", "");
  m.slurm_step = field<std::string>(slurm, "step", "");
  m.slurm_array = field<std::string>(slurm, "array", "");
  m.slurm_task = field<int64_t>(slurm, "task", 0);
  m.rank = field<int64_t>(json, "rank", 0);
  m.world = field<int64_t>(json, "world", 1);
  m.attempt = field<int64_t>(json, "attempt", 0);
  m.started = field(json, "started", 0.0);
  if (json.contains("finished") && json["finished"].is_number()) m.finished = json["finished"].get<double>();
  m.environment = field<Map>(json, "environment", {});
  m.preset = field<Map>(json, "preset", {});
  m.binary = field<std::string>(json, "binary", "");
  m.start_environment = field<std::string>(json, "start_environment", "");
  m.binary_digest = field<std::string>(json, "binary_digest", "");
  for (const auto& source : field<Json>(json, "sources", Json::array())) {
    m.sources.push_back({field<std::string>(source, "path", ""), field<std::string>(source, "file", ""),
                         field<std::string>(source, "digest", ""), field(source, "newer", false),
                         field(source, "interpreted", false)});
    if (!is_below(m.sources.back().file))
      throw Error("the manifest is damaged: the copy of a source leaves the run's directory");
  }
  m.unresolved = field<Strings>(json, "unresolved", {});
  m.args = field<Map>(json, "args", {});
  const Json policy = field<Json>(json, "policy", Json::object());
  m.epsilon = field(policy, "epsilon", 0.0667);
  m.every = field<int64_t>(policy, "every", 0);
  if (policy.contains("mtbf") && policy["mtbf"].is_number()) m.mtbf = policy["mtbf"].get<double>();
  if (policy.contains("step_seconds") && policy["step_seconds"].is_number())
    m.step_seconds = policy["step_seconds"].get<double>();
  m.materializer = field<std::string>(policy, "materializer", "thread");
  m.keep = field<int64_t>(policy, "keep", 0);
  m.local = field<std::string>(policy, "local", "");
  if (json.contains("overhead") && json["overhead"].is_number()) m.overhead = json["overhead"].get<double>();
  for (const auto& loop : field<Json>(json, "loops", Json::array())) m.loops.push_back(loop_from(loop));
  m.warnings = field<Strings>(json, "warnings", {});
  return m;
}

std::vector<std::string> Manifest::loop_names() const {
  std::vector<std::string> out;
  out.reserve(loops.size());
  for (const auto& loop : loops) out.push_back(loop.name);
  return out;
}

Manifest read_manifest(const RunDir& run) {
  const Descriptor file = open_regular(run.manifest());
  const bool foreign = is_foreign(file);
  const std::string text = read_regular(file, run.manifest(), document_limit, foreign_document_limit);
  const Json json = foreign ? parse_json(text, most_foreign_members) : parse_json(text);
  if (!json.is_object() || field(json, "format", 0) != 1) {
    throw Error(run.manifest().string() + " is no manifest that this version reads; is it damaged?");
  }
  // Texts become names of files, where the kernel would read only what is in front of it.
  if (holds_nul(json)) throw Error(run.manifest().string() + " holds a NUL, which Flor does not write");
  Manifest out = manifest_from(json);
  out.foreign = foreign;
  // The owner may claim to be anyone.
  if (foreign) out.user = user_name(directory_owner(run.path));
  return out;
}

namespace {

std::string text_of(const Manifest& manifest) {
  return to_json(manifest).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

void write_manifest(const RunDir& run, const Manifest& manifest) {
  write_durably(run.manifest(), text_of(manifest));
}

void write_manifest_into(const fs::path& spare, const RunDir& run, const Manifest& manifest) {
  write_durably_into(spare, run.manifest(), text_of(manifest));
}

// Collects the loops of a recording that is not over from the rows of its timeline.
class LoopsSoFar {
 public:
  explicit LoopsSoFar(std::vector<RecordedLoop>& loops) : loops_(loops) {}

  void add(const TimelineRow& row) {
    const auto kind = field<std::string>(row, "kind", "");
    // The row of a nested loop.
    if (kind == "loop_end" && !field<std::string>(row, "at", "").empty()) return;
    if (kind == "loop") return begin(loop_from(row));
    if (kind == "loop_end") {
      if (auto* loop = find(field<std::string>(row, "name", ""))) end(*loop, loop_from(row));
    } else if (kind == "step") {
      if (auto* loop = find(field<std::string>(row, "loop", "")))
        loop->inner = field<std::string>(row, "inner", "");
    } else if (kind == "iteration") {
      if (auto* loop = find(field<std::string>(row, "loop", ""))) iterate(*loop, row);
    }
  }

 private:
  // A resumed recording enters a loop again.
  void begin(RecordedLoop loop) {
    const auto [known, is_new] = places_.emplace(loop.name, loops_.size());
    if (is_new) {
      loops_.push_back(std::move(loop));
    } else {
      loops_[known->second].ended = LoopEnd::running;
    }
  }
  static void end(RecordedLoop& loop, const RecordedLoop& ended) {
    loop.ended = ended.ended;
    loop.iterations = ended.iterations;
    loop.last = ended.last;
    loop.seconds = ended.seconds;
  }
  static void iterate(RecordedLoop& loop, const TimelineRow& row) {
    const int64_t value = field<int64_t>(row, "value", -1);
    // Repeated after a resumption.
    if (loop.iterations > 0 && value <= loop.last) return;
    loop.last = value;
    loop.iterations += 1;
    loop.seconds += field(row, "seconds", 0.0);
  }
  RecordedLoop* find(const std::string& name) {
    const auto known = places_.find(name);
    return known == places_.end() ? nullptr : &loops_[known->second];
  }

  std::vector<RecordedLoop>& loops_;
  std::unordered_map<std::string, std::size_t> places_;
};

Manifest read_manifest_and_progress(const RunDir& run) {
  Manifest m = read_manifest(run);
  if (m.status != "recording") return m;
  // The manifest does not have these loops yet; the timeline is appended to during the run.
  m.loops.clear();
  LoopsSoFar loops(m.loops);
  ExecutionCost all;
  for (const auto& row : read_timeline(run.timeline())) {
    loops.add(row);
    const ExecutionCost cost = execution_cost(row);
    all.computed += cost.computed;
    all.paid += cost.paid;
  }
  m.overhead = all.computed > 0 ? all.paid / all.computed : 0;
  return m;
}

}  // namespace flor::core
