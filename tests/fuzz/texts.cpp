#include <sstream>
#include <stdexcept>
#include <utility>

#include "agent/messages.h"
#include "core/checkpoint/header.h"
#include "core/config/conf.h"
#include "core/files/json_lines.h"
#include "core/sources/elf_image.h"
#include "core/sources/sources.h"
#include "core/store/generators.h"
#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "core/store/timeline.h"
#include "dashboard/http/guard.h"
#include "plan/history.h"
#include "plan/units.h"
#include "queue/redis.h"
#include "results/rows/rows.h"
#include "targets.h"

namespace flor::fuzz {
namespace {

core::Plan plan() {
  core::Plan plan;
  plan.run = "20261120-143005-a3f9";
  plan.replay = "r1";
  plan.command = {"./train", "--epochs", "3"};
  plan.complete = true;
  for (int64_t id = 0; id < 3; ++id) {
    plan.units.push_back(
        {id, id, id, "checkpoints/@iteration/epoch=" + std::to_string(id) + ".safetensors", 1, 1, 1, 1});
    plan.selected.add(id);
  }
  plan.segments = {{0, 2}, {2, 3}};
  plan.probes = {{"grad_norm", "train.cpp", 12, "train"}};
  return plan;
}

core::Manifest manifest() {
  core::Manifest manifest;
  manifest.id = "20261120-143005-a3f9";
  manifest.command = {"./train"};
  manifest.sources = {{"/home/a/train.cpp", "source/000-train.cpp", std::string(32, 'a'), false}};
  manifest.environment = {{"threads", "1"}};
  manifest.loops = {{"epoch", true, 0, 3, core::LoopEnd::exhausted, 3, 2, 3.0, true}};
  return manifest;
}

std::string checkpoint() {
  core::CheckpointHeader header;
  header.run = "20261120-143005-a3f9";
  header.block = "train";
  header.at = "epoch=1/train#0";
  header.state = std::string(32, '0');
  header.tensors = {
      {"0.weight", "F32", {2, 3}, std::string(32, '1'), 0, 0, "", ""},
      {"0.bias", "F32", {3}, std::string(32, '2'), 0, 0, "checkpoints/train/epoch=0.safetensors", "0.bias"}};
  return core::encode_header(header) + std::string(24, '\0');
}

const std::string timeline =
    R"({"kind":"loop","name":"epoch","range":true,"begin":0,"end":3,"guarded":true})"
    "\n"
    R"({"kind":"checkpoint","at":"epoch=entry/@iteration","block":"@iteration","file":"checkpoints/@iteration/epoch=entry.safetensors","state":"00","write":0.1,"bytes":5,"written":5})"
    "\n"
    R"({"kind":"block","at":"epoch=0/train#0","block":"train","seconds":1.0,"n":1,"k":1,"stall":0.1})"
    "\n"
    R"({"kind":"iteration","at":"epoch=0","loop":"epoch","value":0,"seconds":1.5})"
    "\n"
    R"({"kind":"checkpoint","at":"epoch=0/@iteration","block":"@iteration","file":"checkpoints/@iteration/epoch=0.safetensors","state":"00","write":0.1})"
    "\n"
    R"({"kind":"removed","at":"epoch=0/@iteration","file":"checkpoints/@iteration/epoch=0.safetensors","held":true})"
    "\n"
    R"({"kind":"doubt","tensor":"w","files":["a"]})"
    "\n";

const std::string log = R"({"name":"loss","value":0.5,"epoch":0,"step":2,"@at":"epoch=0/train#0/step=2"})"
                        "\n"
                        R"({"name":"lr","value":"NaN","@at":""})"
                        "\n"
                        R"({"@event":"resumed","@attempt":1})"
                        "\n"
                        R"({"@event":"kept","loop":"epoch","before":1,"@attempt":1})"
                        "\n"
                        R"({"@event":"kept","at":"epoch=1/train#0","@attempt":1})"
                        "\n"
                        R"({"name":"loss","value":[1,2],"epoch":1,"@at":"epoch=1","@attempt":1})"
                        "\n"
                        R"({"@event":"ended","@attempt":1})"
                        "\n";

const std::string unit =
    R"({"@unit":1,"first":1,"last":1})"
    "\n"
    R"({"@event":"block","at":"epoch=1/train#0","did":"executed"})"
    "\n"
    R"({"name":"loss","value":0.5,"epoch":1,"@at":"epoch=1/train#0"})"
    "\n"
    R"({"@event":"digest","at":"epoch=1/@iteration","recorded":"00","live":"00"})"
    "\n"
    R"({"@event":"loop_end","at":"","name":"epoch","ended":"exhausted","last":2,"recorded":{"ended":"exhausted","last":2}})"
    "\n"
    R"({"@end":1})"
    "\n";

void read_timeline(const std::string& text) {
  const core::JsonLines lines = core::parse_json_lines(text, "timeline.jsonl");
  const core::Timeline rows = core::parse_timeline(text, "timeline.jsonl");
  // Read fast, a row is what the JSON library makes of it.
  if (rows.size() != lines.rows.size()) std::abort();
  for (std::size_t k = 0; k < rows.size(); ++k) {
    for (const char* key : {"kind", "at", "value", "seconds", "files"}) {
      const auto raw = rows[k].raw(key);
      const bool there = lines.rows[k].contains(key);
      if (raw.empty() == there) std::abort();
      if (there && core::Json::parse(raw) != lines.rows[k].at(key)) std::abort();
    }
  }
  core::kept_checkpoints(rows);
  core::removed_checkpoints(rows);
  plan::blocks_of(rows);
  plan::units_of(manifest(), rows, plan::restore_costs(rows, rows));
}

void read_checkpoint(const std::string& text) {
  core::decode_header(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                      "epoch=1.safetensors");
}

void read_manifest(const std::string& text) {
  const auto json = core::Json::parse(text, nullptr, false);
  if (json.is_object()) core::to_json(core::manifest_from(json));
}

void read_generators(const std::string& text) {
  const core::GeneratorLog log(core::parse_json_lines(text, "generators.jsonl").rows, "generators.jsonl");
  log.at("epoch=0", "entry");
}

// One line each: the target, Host, Origin, Authorization. What needs the token is never let through without.
void read_request(const std::string& text) {
  std::istringstream lines(text);
  std::string target;
  dashboard::Request request;
  for (std::string* line : {&target, &request.host, &request.origin, &request.authorization})
    std::getline(lines, *line);
  request.method = "GET";
  auto parsed = dashboard::target_from(target);
  if (!parsed) return;
  request.target = std::move(*parsed);
  const std::string& path = request.target.path;
  const bool is_let_in = !dashboard::refusal({"secret", "counts", {"node7"}}, request).has_value();
  if (is_let_in && path.rfind("/data/", 0) == 0 && request.authorization != "Bearer secret")
    throw std::logic_error("data without the token");
  if ((path + "/").find("/../") != std::string::npos) throw std::logic_error("a path that climbs");
}

std::string generators() {
  std::string out;
  for (const auto& line :
       core::GeneratorWriter().lines("epoch=0", "entry", {{"cpu", "state"}, {"cuda0", "other"}}))
    out += line + "\n";
  return out;
}

}  // namespace

std::vector<Target> texts() {
  return {
      {"agent-message",
       {R"({"op":"hello","protocol":1,"mode":"replay","run_dir":"/s/run","replay":"r1","worker":"w1","redis":"unix:///r","pid":7,"gpu":"","segment":"0","fence":"1:1","hi":3})",
        R"({"op":"hello","protocol":1,"mode":"record","run":"r","run_dir":"/s/r","redis":"","local":"/l/r","pid":7})",
        R"({"op":"claim","from":-1})", R"({"op":"progress","segment":"0","unit":3})",
        R"({"op":"progress","at":"epoch=3","of":8,"seconds":0.5})",
        R"({"op":"commit","segment":"0","unit":3,"digest":"00000000000000000000000000000000","bytes":10,"seconds":0.5})",
        R"({"op":"release","segment":"0","error":"why"})", R"({"op":"spool"})"},
       [](const std::string& text) { agent::parse_request(text); }},
      {"plan",
       {core::to_json(plan()).dump()},
       [](const std::string& text) {
         core::plan_from(core::Json::parse(text, nullptr, false), "plan.json");
       }},
      {"manifest", {core::to_json(manifest()).dump()}, read_manifest},
      {"timeline", {timeline}, read_timeline},
      {"record-log", {log}, [](const std::string& text) { results::parse_record(text, "log.jsonl"); }},
      {"unit-log",
       {unit},
       [](const std::string& text) { results::parse_unit(text, plan().units[1], "000001.jsonl"); }},
      {"checkpoint-header", {checkpoint()}, read_checkpoint},
      {"generators", {generators()}, read_generators},
      {"redis-url",
       {"redis://user:p%40ss@host:6379/2", "redis://[::1]:6379", "unix:///run/redis.sock"},
       [](const std::string& text) { queue::RedisUrl::parse(text).shown(); }},
      {"http-request",
       {"/data/runs/r1/series?name=a%20b&points=9\nlocalhost:7070\nhttp://localhost:7070\nBearer secret",
        "/run/r1?with=r2,r3\n[::1]:7070\n\n", "/data/runs/r1\nnode7:80\n\nBearer secret"},
       read_request},
      {"flor-conf",
       {"# where\nstore = /data/flor\nredis=redis://host\nlocal = /tmp # here\n"},
       [](const std::string& text) { core::parse_conf(text); }},
      {"source-text",
       {"#include \"model.h\"\n/* #include \"no.h\" */\n#include <vector>\n// \"x\"\nint main() { return "
        "R\"(a)\"[0]; }\n"},
       [](const std::string& text) {
         core::includes_of(text);
         const std::string image =
             "\x7f"
             "ELF" +
             text;
         core::translation_units(image);
         core::elf_source_files(image);
       }},
  };
}

}  // namespace flor::fuzz
