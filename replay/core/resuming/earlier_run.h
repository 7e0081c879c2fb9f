// Finds the run that a recording resumes, after an earlier attempt was ended by preemption, a time limit or a
// crash.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config/settings.h"
#include "core/session/session.h"
#include "core/store/generators.h"
#include "core/store/manifest.h"
#include "core/store/store.h"

namespace flor::core {

// Returns whether a user asked for the resumption. Otherwise Slurm requeued the job, and training goes on in
// any case.
bool was_resumption_asked_for();

// The run that a recording resumes, as far as its first loop.
class EarlierRun {
 public:
  // Finds the run that FLOR_RESUME names, else the one that the same Slurm job recorded before it was
  // requeued. Finds none where another process of this launch has begun a run. Where it does not resume
  // a run that the job recorded, prints why. Where the run that FLOR_RESUME names cannot be resumed, prints
  // that and ends the process, as require_possible() does; in another program than the recorded one that
  // waits for its first loop, since a helper inherits the variable and mostly has none. Throws where the
  // store cannot be read.
  explicit EarlierRun(const Settings& settings);

  // std::nullopt: a new run is recorded.
  const std::optional<RunDir>& run() const { return run_; }
  // The attempt that this process is, from 0.
  int64_t attempt() const { return attempt_; }
  // The recorded hyper-parameters.
  const std::map<std::string, std::string>& arguments() const { return arguments_; }

  // Call where the recording begins. Prints why the resumption that the user asked for cannot begin, and ends
  // the process: the user did not ask for training from the start.
  void require_possible(const Settings& settings) const;
  // Goes on without a run that was removed since a requeued job chose it, and prints one line. So too where
  // this process trains together with others, which begin anew; but where a user asked for the resumption,
  // ends the process then.
  void drop_if_gone_or_in_group();
  // Drops the earlier run, and prints why, if its loop is another one than the loop that begins
  // (why_another()): the job may find other data. Where a user asked for the resumption, ends the process. No
  // attempt has begun then, so that replays of the one before still count.
  void drop_if_loop_is_another(const std::string& name, const LoopSpec& loop, Frontend& frontend);

 private:
  void drop();

  std::optional<RunDir> run_;
  int64_t attempt_ = 0;
  std::map<std::string, std::string> arguments_;
  std::string impossible_;
};

// Why a process that trains together with others is not resumed.
inline constexpr const char* trains_with_others =
    "this process trains together with others, which would begin anew";

// Returns why no process may resume the run: another user's, complete, one of several, damaged, or being
// recorded; else std::nullopt. Does not compare the program. Throws std::system_error where the
// owner file cannot be read.
std::optional<std::string> why_not_resumable(const RunDir& run, const Manifest& manifest);

// Returns why the program was recorded with other command-line arguments than it has now.
std::optional<std::string> why_other_arguments(const Manifest& manifest);

}  // namespace flor::core
