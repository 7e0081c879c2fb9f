// flor collect: merges the units of a replay and gives the verdict, when all units are there. Can be
// repeated.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <optional>

#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/cli/commands.h"
#include "commands/replay/monitor.h"
#include "commands/replay/proving.h"
#include "commands/replay/replay_request.h"
#include "commands/replay/summary.h"
#include "core/base/error.h"
#include "core/config/redis_setting.h"
#include "core/config/settings.h"
#include "core/store/copied_run.h"
#include "core/store/presence.h"
#include "results/results.h"
#include "results/unfinished.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::string replay, store;
};

core::ReplayDir find_replay(const std::string& text, const core::Store& store, core::RunDir& run) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) throw core::UsageError("flor collect takes RUN/REPLAY, not '" + text + "'");
  run = core::find_ones_own(store, text.substr(0, slash));
  core::ReplayDir replay = run.replay(text.substr(slash + 1));
  if (!fs::exists(replay.plan())) {
    throw core::UsageError("run " + run.id() + " has no replay '" + replay.id() + "' (`flor show " +
                           run.id() + "` lists them)");
  }
  return replay;
}

// Returns the seconds from the plan's file to the last unit's file.
double seconds_between(const core::ReplayDir& replay, const core::Plan& plan) {
  const auto begin = fs::last_write_time(replay.plan());
  auto end = begin;
  for (const int64_t id : plan.selected.ids()) {
    end = std::max(end, fs::last_write_time(replay.unit(id)));
  }
  return std::chrono::duration<double>(end - begin).count();
}

// The queue of the replay, if a Redis is configured. It knows which worker did what, and is removed at the
// end.
class Leftovers {
 public:
  explicit Leftovers(const core::ReplayDir& replay) : log_(replay) {
    if (const auto redis = core::redis_url(core::Settings::load())) queue_.emplace(*redis, replay);
  }

  std::vector<core::Json> workers() {
    try {
      if (!queue_) return {};
      log_.look(queue_->status());
      return log_.rows(queue_->done());
    } catch (const core::Error&) {
      return {};  // the verdict does not need them
    }
  }

  std::map<int64_t, std::string> proof_errors(const core::Plan& plan) {
    try {
      if (queue_) return commands::proof_errors(plan, queue_->status());
    } catch (const core::Error&) {
      // The verdict does not need them.
    }
    return {};
  }

  void remove() {
    try {
      if (queue_) queue_->remove();
    } catch (const core::Error&) {
      // A Redis that is gone has no keys, and one that comes back forgets them within a day.
    }
  }

 private:
  WorkerLog log_;
  std::optional<queue::Queue> queue_;
};

int collect(const Flags& flags) {
  core::RunDir run;
  const core::ReplayDir replay = find_replay(flags.replay, store_of(flags.store), run);
  const core::Plan plan = core::read_plan(replay);
  if (const auto why = core::of_other_attempt(plan, core::read_manifest(run)); !why.empty())
    throw core::Error(why);
  // All workers that leave at the same time call this command.
  const core::Presence collecting = core::Presence::take(replay.path / ".collecting.lock");
  Leftovers leftovers(replay);
  auto verdict = results::read_verdict(replay);
  if (!verdict) {
    const auto selected = plan.selected.size();
    const std::size_t done = units_done(replay, plan).size();
    if (done < selected) {
      throw core::Error("replay " + flags.replay + " is not finished: " + std::to_string(done) + " of " +
                        counted(selected, "unit") + " are done");
    }
    results::Extras extras;
    extras.seconds = seconds_between(replay, plan);
    extras.workers = leftovers.workers();
    extras.proof_errors = leftovers.proof_errors(plan);
    verdict = results::collect(run, replay, plan, extras);
  }
  results::remove_unfinished(replay);
  // Remove it each time: a worker that asked for work meanwhile has built the queue again.
  leftovers.remove();
  print(summary(plan, *verdict, true) + "\n");
  return exit_code_of(verdict->judgement);
}

}  // namespace

void add_collect(CLI::App& app, Outcome& outcome) {
  CLI::App* command =
      app.add_subcommand("collect", "Merge a finished replay and give its verdict: flor collect RUN/REPLAY");
  command->group("");  // hidden: the library calls it
  auto flags = std::make_shared<Flags>();
  command->add_option("replay", flags->replay, "RUN/REPLAY")->required();
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags, &outcome] { outcome.code = collect(*flags); });
}

}  // namespace flor::commands
