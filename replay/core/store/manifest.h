// Reads and writes run.json, the manifest of a run: what was recorded, and how it ended. docs/formats.md
// describes each field.
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
  // Absolute, at the time of the recording.
  std::string path;
  // Its copy, relative to the run directory.
  std::string file;
  // digest_of() its text.
  std::string digest;
  // Modified after the binary was linked, so it may not be what was compiled.
  bool newer = false;
  // The program runs from this text, not from a binary.
  bool interpreted = false;
};

// How a loop ended.
enum class LoopEnd { running, exhausted, early, unwound };
const char* to_string(LoopEnd end);
LoopEnd loop_end_from(const std::string& text);

// An outermost loop of the run.
struct RecordedLoop {
  // With its occurrence: "epoch", "epoch#1".
  std::string name;
  // True: over a range of numbers, so that replay can jump. False: over a container or a loader.
  bool range = true;
  // Of a range.
  int64_t begin = 0;
  // Of a range; of a container the number of iterations, -1 where it is unknown.
  int64_t end = 0;
  LoopEnd ended = LoopEnd::running;
  // How many iterations began.
  int64_t iterations = 0;
  // The value of the last iteration that began.
  int64_t last = -1;
  // Of computing, without the stalls that checkpoints cost.
  double seconds = 0;
  // A flor::checkpointing guard lived at its entry.
  bool guarded = false;
  // The loop inside it between whose steps there are checkpoints ("train#0/step"); empty: none.
  std::string inner{};
  // Over a container that gives other elements where it is begun anew: it is not begun in its middle.
  bool one_pass = false;
};

struct Manifest {
  std::string id, name, status = "recording";
  std::optional<int> exit_code;
  std::vector<std::string> command;
  std::string cwd, host, user, binary;
  int64_t pid = 0;
  std::string slurm_job, slurm_step;
  // Of a task of a job array: the job that all its tasks have in common, and the task's index.
  std::string slurm_array;
  int64_t slurm_task = 0;
  int64_t rank = 0, world = 1, attempt = 0;
  double started = 0;
  std::optional<double> finished;
  // What must match for equal bits (docs/semantics.md, rule 21).
  std::map<std::string, std::string> environment;
  // Variables that a launcher sets before a worker starts.
  std::map<std::string, std::string> preset;
  // Digest of the environment that the last attempt was started in (core/resuming/start_environment.h);
  // empty in runs of earlier versions.
  std::string start_environment;
  std::vector<RecordedSource> sources;
  // Of the program; empty where the record has all of its sources.
  std::string binary_digest;
  // Sources and quoted includes that were not found.
  std::vector<std::string> unresolved;
  std::map<std::string, std::string> args;
  double epsilon = 0.0667;
  int64_t every = 0;
  // The mean time between failures, in seconds.
  std::optional<double> mtbf;
  // As in core/policy/spacing.h; only where the user gave it.
  std::optional<double> step_seconds;
  std::string materializer = "auto";
  // The run's directory in the local tier of `host`; empty: none was used.
  std::string local;
  // How many checkpoints of each kind are kept; 0: all.
  int64_t keep = 0;
  // What checkpoints cost the training, as a share of the time computed: what epsilon limits. std::nullopt in
  // runs of earlier versions.
  std::optional<double> overhead;
  std::vector<RecordedLoop> loops;
  std::vector<std::string> warnings;
  // Was the file another user's when it was read? Not written.
  bool foreign = false;

  // The loop that ran longest; nullptr where no loop was entered. Valid as long as `loops` is not changed.
  const RecordedLoop* main_loop() const;
  std::vector<std::string> loop_names() const;
  // Did the recording end by itself, behind its main loop? Else it was killed, or goes on.
  bool ended_behind_loop() const;
  // Can replay enter its units by restoring a checkpoint?
  bool complete() const { return main_loop() != nullptr && main_loop()->guarded; }
};

Json to_json(const RecordedLoop& loop);
Json to_json(const Manifest& manifest);
Manifest manifest_from(const Json& json);

// Throws Error that names the file where it is not a manifest of a known format.
Manifest read_manifest(const RunDir& run);
void write_manifest(const RunDir& run, const Manifest& manifest);
// As write_durably_into().
void write_manifest_into(const fs::path& spare, const RunDir& run, const Manifest& manifest);

// Returns the manifest. For a recording that was killed or still runs, takes its loops and its overhead from
// its timeline.
Manifest read_manifest_and_progress(const RunDir& run);

}  // namespace flor::core
