// A run while it is recorded: its directory and manifest, journal, checkpoints, agent, and damage. Training
// thread only, except damaged(), delayed() and is_ours().
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
#include "core/recording/generator_room.h"
#include "core/store/generators.h"
#include "core/tier/drain.h"
#include "core/tier/own_spooler.h"

namespace flor::core {

class Resumption;

class Recording {
 public:
  // Resumes the run `earlier`; without it, begins a new run. Returns null if another process of the launch
  // records. Throws if the store cannot be written; where the user asked for the resumption, ends the process
  // instead of throwing.
  static std::unique_ptr<Recording> begin(const Settings& settings, Frontend& frontend,
                                          const std::optional<EarlierAttempt>& earlier);

  explicit Recording(BegunRun begun);

  const RunDir& run() const { return begun_.run; }
  Manifest& manifest() { return begun_.manifest; }
  // Call when an outermost loop is entered. Saves the manifest only if its environment or its arguments have
  // changed since the last loop. A program may have thousands of loops; during the run the timeline lists
  // them. Where the store refuses, or does not answer in 10 s, warns once; iteration_ended() tries again.
  void save_manifest_at_loop();
  Checkpointer& checkpointer() { return *checkpointer_; }

  void append(JournalFile file, Line line) { journal_->append(file, std::move(line)); }
  // Notes in the timeline that these checkpoints of earlier attempts are not used any more. --flor-keep does
  // not count them.
  void pass_over(const std::vector<std::string>& files);
  // Notes in the timeline that a block (""; an iteration) changes what it does not hold (session/runtime.h).
  void note_unheld(const std::string& block, const std::string& path, bool matters);
  // With --flor-keep, counts the checkpoints of earlier attempts. Where they cannot be read, keeps them all,
  // and adds a remark. Call as soon as it is known which of them can be restored.
  void keep_newest_of(const Resumption& resumption);
  // Adds an event to the log of a resumed recording. Events tell how its rows and those of earlier attempts
  // make one log (docs/formats.md, "Rows").
  void log_event(Json event);
  // `is_needed`: a replay or a resumption may be entered here. So it may in what follows a checkpoint. Other
  // places are left out where the record has grown large, or room is short.
  void note_generators(const std::string& at, const char* edge, const GeneratorStates& states,
                       bool is_needed);
  // Call behind each iteration: there may be a new checkpoint in the local tier.
  void iteration_ended();
  // Makes all rows durable. Returns false if they could not be written.
  bool sync() { return journal_->sync(); }

  // Returns false, and warns once, if a later attempt has taken over the run (docs/formats.md,
  // "owner.N.json"). This attempt then writes nothing that readers see. Any thread.
  bool is_ours();
  // Reports that something is missing from the record for ever: warns once and marks the run, which can then
  // not be resumed. Any thread.
  void damaged(const std::string& what);
  // Reports that rows could not be written yet: warns once, and adds remarks. The journal writes them again,
  // so nothing is missing. Any thread.
  void delayed(const std::string& what);
  // Reports that a checkpoint was not written: warns once, and adds remarks. A resumption begins at another
  // checkpoint, so nothing is missing.
  void missed(const std::string& what);
  // Adds a line that readers of the record must know, although nothing is missing.
  void remark(const std::string& line);

  // Notes that the program ended with this exit code. Waits for the store at most 70 s, and 1 s more for each
  // 10 MB that is still to be written; then gives up with a warning. Brings the rest of the local tier to the
  // store after that, without this limit.
  void finish(int exit_code);
  // Returns when all checkpoints and rows so far are in the store, where possible. Returns why the checkpoint
  // of the newest place is not there; "" if it is. Leaves the run resumable in either case.
  std::string settle();
  // Marks the run as damaged after an exception. The recording ends. Waits for the store at most 10 s; where
  // it hangs, this object must live as long as the process.
  void give_up(const std::string& why) noexcept;

 private:
  // What the end of the recording says of it.
  std::string summary() const;
  static std::unique_ptr<Recording> start(const Settings& settings, Frontend& frontend,
                                          const std::optional<EarlierAttempt>& earlier);
  bool beat();
  void watch_for_tensorboard();
  // Writes a manifest, but none after one with a higher number. Any thread.
  void write_copy(const Manifest& copy, int64_t number,
                  void (*write)(const RunDir&, const Manifest&) = write_manifest);
  bool save_manifest_in_time();
  void write_all(int exit_code);
  void write_end();
  void tell_of_unwritten_end(const std::string& why);
  // Returns what stays behind; "" for nothing.
  std::string empty_local_tier(RecordingEnd end);

  BegunRun begun_;
  using Texts = std::map<std::string, std::string>;
  // Environment and arguments at the entry of the last loop.
  std::optional<std::pair<Texts, Texts>> saved_;
  bool is_unsaved_ = false;
  // A copy is being written, or hangs.
  std::atomic<bool> is_saving_{false};
  // monotonic_seconds() of the next try behind one that took too long.
  double not_before_ = 0;
  std::atomic<int64_t> copies_{0};
  // Guards newest_copy_, and the file.
  std::mutex manifest_mutex_;
  int64_t newest_copy_ = 0;
  // A later attempt has the run.
  std::atomic<bool> lost_{false};
  // The end is written.
  std::atomic<bool> over_{false};
  std::mutex damage_mutex_;
  std::vector<std::string> damages_;
  std::vector<std::string> remarks_;
  std::size_t missed_ = 0;
  std::size_t delayed_ = 0;
  // Something failed. The disk may be full, and reserve_space() may have kept the room that is missing.
  std::atomic<bool> wants_space_{false};
  GeneratorRoom generator_room_;
  // Below all that its thread uses.
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Checkpointer> checkpointer_;
  std::unique_ptr<AgentClient> agent_;
  // With a local tier.
  std::shared_ptr<OwnSpooler> own_spooler_;
  GeneratorWriter generators_;
  // Checkpoints that were taken when generators were noted last.
  int64_t taken_ = 0;
};

}  // namespace flor::core
