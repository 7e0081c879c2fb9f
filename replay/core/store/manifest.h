// run.json: what a run was, and how it ended. Field by field in docs/formats.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/store.h"

namespace flor::core {

struct RecordedSource {
  std::string path;    // absolute, as it was
  std::string file;    // its copy, relative to the run directory
  std::string digest;  // XXH3-128 of the text
  bool newer = false;  // modified after the binary was linked: may not be what was compiled
};

// How a loop ended.
enum class LoopEnd { running, exhausted, early, unwound };
const char* to_string(LoopEnd end);
LoopEnd loop_end_from(const std::string& text);

// An outermost loop of the run.
struct RecordedLoop {
  std::string name;   // with its occurrence: "epoch", "epoch#1"
  bool range = true;  // over a range of numbers, so that replay can jump; else over a container or loader
  int64_t begin = 0;  // of a range
  int64_t end = 0;    // of a range; of a container the number of iterations where it is known, else -1
  LoopEnd ended = LoopEnd::running;
  int64_t iterations = 0;  // that were begun
  int64_t last = -1;       // the value of the last one that was begun
  double seconds = 0;      // without stalls
  bool guarded = false;    // a flor::checkpointing guard lived at its entry
  std::string
      inner{};  // the loop in it between whose steps there are checkpoints ("train#0/step"); empty: none
};

struct Manifest {
  std::string id, name, status = "recording";
  std::optional<int> exit_code;
  std::vector<std::string> command;
  std::string cwd, host, user, binary;
  int64_t pid = 0;
  std::string slurm_job, slurm_step;
  int64_t rank = 0, world = 1, attempt = 0;
  double started = 0;
  std::optional<double> finished;
  std::map<std::string, std::string> environment;  // must match for bit equality
  std::map<std::string, std::string> preset;       // a launcher sets these before the process starts
  std::vector<RecordedSource> sources;
  std::string binary_digest;            // of the program, where not all of its sources are in the record
  std::vector<std::string> unresolved;  // quoted includes that were not found
  std::map<std::string, std::string> args;
  double epsilon = 0.0667;
  int64_t every = 0;
  std::optional<double> mtbf;          // mean time between failures, seconds
  std::optional<double> step_seconds;  // as in core/policy/step_interval.h, where the user gave it
  std::string materializer = "auto";
  std::string local;  // the run's directory in the local tier of `host`; empty: none was used
  int64_t keep = 0;   // checkpoints of each kind; 0: all
  std::vector<RecordedLoop> loops;
  std::vector<std::string> warnings;

  // The loop that ran longest; nullptr when none was entered.
  const RecordedLoop* main_loop() const;
  std::vector<std::string> loop_names() const;
  bool complete() const { return main_loop() != nullptr && main_loop()->guarded; }
};

Json to_json(const RecordedLoop& loop);
Json to_json(const Manifest& manifest);
Manifest manifest_from(const Json& json);

// Throws Error that names the file when it is no manifest of a known format.
Manifest read_manifest(const RunDir& run);
void write_manifest(const RunDir& run, const Manifest& manifest);

// The manifest, with the loops of a recording that was killed or still runs filled in from its timeline.
Manifest read_manifest_and_progress(const RunDir& run);

}  // namespace flor::core
