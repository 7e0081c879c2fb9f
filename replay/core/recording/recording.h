// A run as it is being written: its directory and manifest, its journal, its checkpoints, its agent, and what
// went wrong with them. Training thread only, but for damaged().
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/agent/client.h"
#include "core/log/journal.h"
#include "core/recording/begin_run.h"
#include "core/recording/checkpointer.h"
#include "core/store/generators.h"

namespace flor::core {

class Recording {
 public:
  // `earlier`: the run to go on with; else a new one. Nothing: another process of the launch records. Throws
  // when the store cannot be written; where a resumption was asked for, the process ends instead.
  static std::unique_ptr<Recording> begin(const Settings& settings, Frontend& frontend,
                                          const std::optional<RunDir>& earlier);

  explicit Recording(BegunRun begun);

  const RunDir& run() const { return begun_.run; }
  Manifest& manifest() { return begun_.manifest; }
  void save_manifest();
  // An outermost loop is entered: saves the manifest where more than its loops is new. A program may have
  // thousands of them; while it runs they are in the timeline.
  void save_manifest_at_loop();
  Checkpointer& checkpointer() { return *checkpointer_; }

  void append(JournalFile file, Line line) { journal_->append(file, std::move(line)); }
  // In a resumed recording's log: how its rows and those of earlier attempts make one (docs/formats.md,
  // "Rows").
  void log_event(Json event);
  void note_generators(const std::string& at, const char* edge, const GeneratorStates& states);
  // Where training is; shown while it runs.
  void progress(const std::string& at, int64_t of, double seconds) {
    agent_->progress_record(at, of, seconds);
  }
  bool sync() { return journal_->sync(); }  // all rows are durable; false: they could not be written

  // False, and said once: a further attempt goes on with the run (docs/formats.md, "owner.N.json"), so that
  // this one writes nothing more that a reader sees. Any thread.
  bool is_ours();
  // Something is missing in the record from now on: said once, and the run is marked. Any thread.
  void damaged(const std::string& what);
  // What a reader of the record must know, though nothing is missing.
  void remark(const std::string& line);

  void finish(int exit_code);
  // All checkpoints and rows so far are in the store, where they can be.
  void settle();
  void give_up(const std::string& why) noexcept;

 private:
  static std::unique_ptr<Recording> start(const Settings& settings, Frontend& frontend,
                                          const std::optional<RunDir>& earlier);
  bool is_damaged();
  void write_end();
  void empty_local_tier();

  BegunRun begun_;
  using Texts = std::map<std::string, std::string>;
  std::optional<std::pair<Texts, Texts>> saved_;  // environment and arguments, at the last loop's entry
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Checkpointer> checkpointer_;
  std::unique_ptr<AgentClient> agent_;
  GeneratorWriter generators_;
  std::vector<std::string> remarks_;
  std::atomic<bool> lost_{false};  // the run is no longer this attempt's
  std::atomic<bool> over_{false};  // its end is written
  std::mutex damage_mutex_;
  std::vector<std::string> damages_;
};

}  // namespace flor::core
