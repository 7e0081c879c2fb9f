#include "commands/replay/replay_request.h"

#include <algorithm>
#include <functional>
#include <sstream>

#include "commands/base/options.h"
#include "commands/sources/probing.h"
#include "commands/sources/python_program.h"
#include "core/base/error.h"
#include "core/base/shell_words.h"
#include "core/checkpoint/recorded_timeline.h"
#include "core/files/durable.h"
#include "core/files/existence.h"
#include "core/files/json_lines.h"
#include "core/store/liveness.h"
#include "core/store/slurm_job.h"
#include "dispatch/process.h"
#include "gc/runs.h"
#include "plan/history.h"
#include "plan/partition.h"
#include "plan/units.h"
#include "results/results.h"
#include "results/rows/where.h"
#include "results/verdict/founding.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;

// Returns "epoch 7 of 12".
std::string progress_of(const core::RecordedLoop& loop, std::size_t finished) {
  std::string text = loop.name + " " + std::to_string(finished);
  const int64_t all = loop.range ? loop.end - loop.begin : loop.end;
  if (all >= 0) text += " of " + std::to_string(all);
  return text;
}

const core::RecordedLoop& require_loop(const core::RunDir& run, const core::Manifest& manifest) {
  const core::RecordedLoop* loop = manifest.main_loop();
  if (loop == nullptr) {
    throw core::UsageError("run " + run.id() + " has no loop to replay: its program entered no flor::loop");
  }
  return *loop;
}

// Refuses a run that did not end by itself, unless the user chose epochs.
void require_ended(const Request& request, const core::Manifest& manifest, std::size_t finished,
                   const std::string& range) {
  if (manifest.status != "recording" || !request.epochs.empty()) return;
  const std::string name = "run " + request.run.id();
  const std::string where = progress_of(*manifest.main_loop(), finished);
  const std::string offer = "; --epochs " + range + " replays what exists";
  const core::Life life = core::liveness_of(request.run, core::state_of_job).life;
  if (life != core::Life::dead) {
    const std::string is = life == core::Life::live ? " is" : " may be";
    throw core::UsageError(name + is + " still being recorded, after " + where + offer);
  }
  throw core::UsageError(name + " is incomplete: its recording stopped after " + where + offer);
}

core::UnitSet select_units(const Request& request, const core::Manifest& manifest, const core::Plan& plan) {
  const auto& units = plan.units;
  core::UnitSet asked_for = plan::select(units, plan::parse_ranges(request.epochs), request.every);
  if (!request.steps.empty()) {
    const auto steps = plan::parse_ranges(request.steps, "steps");
    if (plan.inner.empty()) {
      throw core::UsageError(
          "--steps: this question runs whole epochs: the record has no checkpoints inside of them that "
          "it could use");
    }
    asked_for = plan::with_steps(units, asked_for, steps);
  }
  if (request.where.empty()) return asked_for;
  const auto values = results::values_where(results::read_record(request.run).rows, manifest,
                                            results::parse_condition(request.where));
  core::UnitSet out;
  for (const auto& unit : units) {
    const bool any = std::any_of(values.begin(), values.end(),
                                 [&](int64_t value) { return unit.first <= value && value <= unit.last; });
    if (any && asked_for.contains(unit.id)) out.add(unit.id);
  }
  if (out.empty()) throw core::UsageError("--where: it holds in none of the epochs that were asked for");
  return out;
}

// Returns true if the replay executes the inner loop that has checkpoints between its steps.
bool reaches_steps(const core::RecordedLoop& loop, const Probing& probing) {
  if (loop.inner.empty() || !loop.range || probing.from_start || probing.lead_in_all ||
      !probing.lead_in.empty()) {
    return false;
  }
  std::istringstream path(loop.inner);
  for (std::string element; std::getline(path, element, '/') && !path.eof();) {
    const bool is_block = element.find('=') == std::string::npos;
    if (is_block && !probing.executed.contains(element.substr(0, element.find('#')))) return false;
  }
  return true;
}

void force(const Forced& forced, Probing& probing) {
  if (!forced.from_start && !forced.all) return;
  probing.from_start = probing.from_start || forced.from_start;
  probing.executed.all = probing.executed.all || forced.all;
  probing.lead_in_all = probing.lead_in_all || forced.all;
  probing.executed.blocks.insert(forced.blocks.begin(), forced.blocks.end());
  probing.lead_in.insert(forced.blocks.begin(), forced.blocks.end());
  std::string blocks;
  for (const auto& block : forced.blocks) blocks += (blocks.empty() ? "" : ", ") + block;
  probing.reasons.push_back(forced.why + ": " +
                            (forced.all ? std::string("every block") : "block " + blocks) + " executes" +
                            (forced.from_start ? ", from the program's start" : ""));
}

namespace fs = std::filesystem;

void add_notes(Asked& asked) {
  const auto& manifest = asked.manifest;
  if (manifest.status == "failed") {
    asked.notes.push_back("the recorded program ended with exit code " +
                          std::to_string(manifest.exit_code.value_or(-1)) +
                          "; its finished iterations are replayed");
  }
  if (manifest.status == "damaged") {
    asked.notes.push_back("a write failed while run " + asked.run.id() +
                          " was recorded; what is there is replayed");
  }
  const auto& recorded = manifest.command;
  const auto& present = asked.plan.command;
  // The edited script of an interpreter may have another name.
  const auto is_same_word = [&](const std::string& before, const std::string& now) {
    const bool are_scripts = fs::path(before).extension() == ".py" && fs::path(now).extension() == ".py";
    return before == now || (are_scripts && is_interpreted(manifest));
  };
  const bool is_same = recorded.empty() ||
                       (recorded.size() == present.size() &&
                        std::equal(recorded.begin() + 1, recorded.end(), present.begin() + 1, is_same_word));
  if (!is_same) {
    asked.notes.push_back("run " + asked.run.id() + " was recorded with other arguments (" +
                          core::shell_line(recorded) + "): rows that depend on them will differ");
  }
}

using Verdict = std::optional<results::Verdict>;

// Throws std::system_error if it cannot be told which replays have a plan: one that a failed file server
// hides would be begun anew.
void require_seen(const core::RunDir& run) {
  if (!core::is_there(run.replays())) return;
  for (const auto& entry : fs::directory_iterator(run.replays())) core::is_there(entry.path() / "plan.json");
}

// Returns the replays whose plan fulfils `such` and whose verdict (nullopt: none yet) fulfils `judged`, the
// newest first.
std::vector<core::ReplayDir> replays_where(const core::RunDir& run,
                                           const std::function<bool(const core::Plan&)>& such,
                                           const std::function<bool(const Verdict&)>& judged) {
  std::vector<core::ReplayDir> out;
  for (const auto& replay : run.all_replays()) {
    try {
      if (such(core::read_plan(replay)) && judged(results::read_verdict(replay))) out.push_back(replay);
    } catch (const core::Error&) {
      // Skip a replay whose plan or verdict is damaged.
    }
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::optional<core::ReplayDir> first_of(const std::vector<core::ReplayDir>& replays) {
  return replays.empty() ? std::nullopt : std::optional(replays.front());
}

bool is_proved(const Verdict& verdict) {
  return verdict && verdict->judgement == results::Judgement::identical;
}

// Returns true if the replay has as many proof units as the question wants.
bool proves_enough(const core::Plan& plan, const Asked& asked) {
  if (plan.brief && !asked.plan.brief) return false;
  return plan.proofs >= (asked.prove_exactly ? asked.plan.proofs : std::min<int64_t>(asked.plan.proofs, 1));
}

// A plan of an earlier version names no attempt, so that its rows count only for the first one.
bool asks_the_same(const core::Plan& plan, const Asked& asked) {
  return plan.question == asked.plan.question && plan.attempt == asked.plan.attempt;
}

// Returns true if the units do not differ from the record, and no proof contradicts their rows. There need
// not be a proof.
bool is_sound(const Verdict& verdict) {
  return verdict && verdict->judgement != results::Judgement::differs && verdict->taken_back().empty();
}

bool is_whole(const core::ReplayDir& replay, const core::Unit& unit) {
  try {
    results::parse_unit(core::read_file(replay.unit(unit.id)), unit, "");
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Returns the plan with segments for the missing units only. Its selection stays the one of the question.
core::Plan cut_for(const Asked& asked, const core::ReplayDir& replay, std::size_t workers, bool may_grow) {
  core::Plan plan = asked.plan;
  const auto done = units_done(replay, plan);
  plan.selected = {};
  for (const int64_t id : asked.plan.selected.ids()) {
    if (!std::binary_search(done.begin(), done.end(), id)) plan.selected.add(id);
  }
  plan::cut(plan, workers);
  plan.selected = asked.plan.selected;
  if (!asked.prove_exactly) plan::prove_a_cut(plan, may_grow);
  plan.replay = replay.id();
  return plan;
}

}  // namespace

core::Timeline restores_of(const core::RunDir& run) {
  core::Timeline rows;
  for (const auto& replay : run.all_replays()) {
    try {
      auto more = core::read_timeline(replay.timeline());
      rows.insert(rows.end(), more.begin(), more.end());
    } catch (const std::exception&) {
      // Workers of many nodes append to this file, and on NFS two that append at once can overwrite each
      // other. This only makes estimates worse.
    }
  }
  return rows;
}

void enter_from_start(core::Plan& plan) {
  plan.complete = false;
  for (auto& unit : plan.units) unit.entry.clear();
}

std::vector<core::Unit> selected_units(const core::Plan& plan) {
  std::vector<core::Unit> out;
  for (const int64_t id : plan.selected.ids()) out.push_back(plan.units[static_cast<std::size_t>(id)]);
  return out;
}

Asked ask(const Request& request) {
  if (request.program.empty()) {
    throw core::UsageError("name the program behind --: flor replay " + request.run.id() + " -- ./train …");
  }
  Asked asked;
  asked.run = request.run;
  asked.manifest = core::read_manifest_and_progress(request.run);
  const core::RecordedLoop& loop = require_loop(request.run, asked.manifest);
  const auto timeline = core::recorded_timeline(request.run);
  const auto history =
      plan::history_of(asked.manifest, timeline, plan::restore_costs(timeline, restores_of(request.run)));
  core::Plan& out = asked.plan;
  const fs::path program = fs::absolute(dispatch::find_program(request.program.front()));
  Probing probing =
      probe(request.run, asked.manifest, program, request.program, request.probe, plan::blocks_of(timeline));
  force(request.forced, probing);
  // A block is reached only if the blocks around it execute, too.
  probing.executed.blocks = plan::with_those_around(timeline, std::move(probing.executed.blocks));
  probing.lead_in = plan::with_those_around(timeline, std::move(probing.lead_in));
  out.complete = asked.manifest.complete();
  out.reasons = probing.reasons;
  if (!request.whole_iterations && out.complete && reaches_steps(loop, probing)) {
    if (probing.whole_iterations.empty()) out.inner = loop.inner;
    out.reasons.insert(out.reasons.end(), probing.whole_iterations.begin(), probing.whole_iterations.end());
  }
  out.units = plan::units_of(history, out.complete, !out.inner.empty());
  if (out.units.empty()) {
    throw core::UsageError("run " + request.run.id() + " has no finished iteration of its loop " + loop.name +
                           ": there is nothing to replay");
  }
  require_ended(request, asked.manifest, history.iterations.size(), plan::range_of(out.units));
  out.selected = select_units(request, asked.manifest, out);

  out.run = request.run.id();
  out.attempt = asked.manifest.attempt;
  out.covers_end = asked.manifest.ended_behind_loop();
  out.command = request.program;
  out.program = probing.executed_files;
  out.any_device = request.any_device;
  out.execute_all = probing.executed.all;
  out.execute = probing.executed.blocks;
  out.lead_in_all = probing.lead_in_all;
  out.lead_in = probing.lead_in;
  out.renamed = probing.renamed;
  out.probes = probing.probes;
  out.names = probing.names;
  if (probing.from_start && out.complete) enter_from_start(out);
  for (auto& probe : out.probes) results::found(probe, out);
  if (!out.complete && (out.lead_in_all || !out.lead_in.empty())) {
    out.reasons.emplace_back(
        "they execute in front of each unit, too, where the program runs from its start: several "
        "workers gain little");
  }
  const plan::Question question{out.run,       asked.manifest.attempt, probing.program,
                                out.command,   selected_units(out),    out.execute_all,
                                out.execute,   out.any_device,         out.inner,
                                out.complete,  out.lead_in_all,        out.lead_in,
                                out.covers_end};
  out.question = plan::digest_of(question);
  out.recipe = plan::recipe_of(question);
  plan::set_work(out.units, history, probing.executed);
  plan::ask_for_proofs(out, request.prove);
  asked.prove_exactly = request.prove != "auto";
  add_notes(asked);
  return asked;
}

core::Presence lock_planning(const core::RunDir& run) {
  // `flor gc` holds this lock while it renames and removes the run. So check the run before and after taking
  // it.
  const auto gone = [&] { return core::Error("run " + run.id() + " has just been removed"); };
  if (!core::fs::exists(run.manifest())) throw gone();
  core::create_directories_durably(run.replays());
  auto lock = core::Presence::take(gc::planning_lock(run));
  if (!core::fs::exists(run.manifest())) throw gone();
  return lock;
}

std::optional<core::ReplayDir> unfinished(const Asked& asked) {
  require_seen(asked.run);
  return first_of(replays_where(
      asked.run,
      [&](const core::Plan& plan) { return asks_the_same(plan, asked) && proves_enough(plan, asked); },
      [](const Verdict& verdict) { return !verdict; }));
}

std::optional<core::ReplayDir> answered(const Asked& asked) {
  return first_of(replays_where(
      asked.run,
      [&](const core::Plan& plan) { return asks_the_same(plan, asked) && proves_enough(plan, asked); },
      is_proved));
}

std::optional<core::ReplayDir> contradicted(const Asked& asked) {
  return first_of(replays_where(
      asked.run, [&](const core::Plan& plan) { return asks_the_same(plan, asked); },
      [](const Verdict& verdict) {
        return verdict && verdict->judgement == results::Judgement::unproved &&
               !verdict->taken_back().empty();
      }));
}

std::size_t adopt_units(const Asked& asked, const core::ReplayDir& replay) {
  core::create_directories_durably(replay.units());
  const auto earlier = replays_where(
      asked.run, [&](const core::Plan& plan) { return plan.recipe == asked.plan.recipe; }, is_sound);
  for (const auto& one : earlier) {
    const auto again = one.all_again();
    for (const int64_t id : units_done(one, asked.plan)) {
      std::error_code ignored;  // a unit that cannot be linked is executed
      // What another execution contradicted is executed anew.
      if (is_whole(one, asked.plan.units.at(static_cast<std::size_t>(id))) && again.count(id) == 0)
        fs::create_hard_link(one.unit(id), replay.unit(id), ignored);
    }
  }
  core::sync_directory(replay.units());
  return units_done(replay, asked.plan).size();
}

core::Plan publish(const Asked& asked, const core::ReplayDir& replay, std::size_t workers, bool may_grow) {
  if (fs::exists(replay.plan())) return core::read_plan(replay);
  core::Plan out = cut_for(asked, replay, workers, may_grow);
  core::create_directories_durably(replay.units());
  core::create_directories_durably(replay.workers());
  const std::string text =
      core::to_json(out).dump(1, ' ', false, core::Json::error_handler_t::replace) + "\n";
  if (core::publish_once(replay.plan(), text) == core::Published::different) return core::read_plan(replay);
  return out;
}

}  // namespace flor::commands
