// Reads and writes plan.json: the question of a replay, the units that answer it, and how they were cut into
// segments. The planner writes it once; every worker and agent reads it. docs/formats.md describes each
// field.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/store/manifest.h"
#include "core/store/store.h"
#include "core/store/unit_set.h"

namespace flor::core {

// The work between two consecutive checkpoints that can be restored: iterations `first` to `last` of the main
// loop, or parts of them. Iteration `first` may begin at step `from` of the plan's inner loop; iteration
// `last` may end before step `to`.
struct Unit {
  int64_t id = 0;
  // Values of the main loop; both belong to the unit.
  int64_t first = 0;
  int64_t last = 0;
  // The iteration checkpoint that it starts from. Empty: it is entered by pseudoresume.
  std::string entry;
  // Seconds when every block in it executes.
  double cost = 0;
  // Seconds when every block with a checkpoint is skipped (pseudoresume, outer probes).
  double skip_cost = 0;
  // Seconds to restore `entry` and `step`.
  double restore = 0;
  // Seconds that it takes in this replay, with the restore of its entry.
  double work = 0;
  // -1: all of iteration `first`, with what stands before the inner loop.
  int64_t from = -1;
  // -1: all of iteration `last`, with what stands after the inner loop.
  int64_t to = -1;
  // Where `from` is set: the step checkpoint that is restored after `entry`.
  std::string step{};
  // For a proof unit (core/store/proof.h): the units that it executes as one.
  std::optional<UnitRange> proves{};
  // For a proof unit: it also executes what follows the main loop.
  bool behind_loop = false;

  bool is_proof() const { return proves.has_value(); }
  // The id of the plan's unit whose beginning is this unit's beginning.
  int64_t begin_id() const { return proves ? proves->first : id; }
};

// A value that a probe's row is computed from.
struct ProbeInput {
  // As the program calls it: "meter.sum".
  std::string name;
  // Does a replay that skips blocks have its value?
  bool held = true;
  // One line for the user.
  std::string why{};
  // Blocks that change it and do not hold it.
  std::set<std::string> changed_by{};
};

// What a probe's rows rest on, as long as no proof unit has confirmed them (docs/semantics.md, rules 18a to
// 19b).
enum class Founding {
  // Every block that changes what the probe reads executes in the unit.
  executed,
  // A block is skipped, and the analysis found that everything the probe reads is held.
  held,
  // The user's --probe skips a block that changes what the probe reads.
  unproved
};
const char* to_string(Founding founding);

struct Probe {
  // Empty where it is not a literal.
  std::string name;
  std::string file;
  int line = 0;
  // Empty: outside of all blocks.
  std::string block;
  Founding founding = Founding::executed;
  // The reason for `unproved`.
  std::string why{};
  // Why its rows are not given: it reads clocks or the machine and a block before it was skipped, or it lists
  // files. Empty: they are given.
  std::string withheld{};
  std::vector<ProbeInput> inputs{};
  // It reads clocks or the machine; its rows are not compared.
  bool is_volatile = false;
  // Blocks that execute if its rows turn out wrong.
  std::set<std::string> depends{};
};

// The question of a replay that only checks (`flor check --complete`); its rows are not shown.
inline constexpr const char* check_question = "check";

struct Plan {
  // `question` is a digest of all that decides the rows (scheduler/plan/units.h), or check_question.
  std::string run, replay, question;
  // The same digest, without the selection of units: equal recipes give equal rows of a unit.
  std::string recipe;
  // The attempt of the recording that this plan was made for. Later attempts may record other values, of
  // which this replay says nothing.
  int64_t attempt = 0;
  // Had the recording ended when the plan was made? Then the last unit also executes what follows the main
  // loop. False where the recording was going on or was killed: the last unit ends as the others do.
  bool covers_end = true;
  std::vector<std::string> command;
  // What a worker executes: the program and the scripts among its arguments, by absolute path, with the
  // digest of each file when the plan was made. A worker with another program leaves.
  std::map<std::string, std::string> program{};
  // True: units are entered by restoring. False: by pseudoresume, forward only.
  bool complete = false;
  // The loop at whose steps units may begin and end: its scope path inside an iteration ("train#0/step").
  // Empty: units are whole iterations.
  std::string inner;
  // All units of the run, in order; a unit's id is its position.
  std::vector<Unit> units;
  UnitSet selected;
  std::vector<UnitRange> segments;
  // Idle workers take work from running segments. False: segments stay as they were cut.
  bool balance = true;
  // Idle workers may also execute a unit whose worker is slow.
  bool copies = true;
  bool execute_all = false;
  // Blocks that execute, by their recorded names.
  std::set<std::string> execute;
  // Blocks that also execute before a unit that is entered by running from the start. If they were skipped,
  // the unit would read a stale value. Other blocks of `execute`, to which a log was added, are skipped
  // there.
  bool lead_in_all = false;
  std::set<std::string> lead_in;
  // Blocks with a new name: new name → recorded name.
  std::map<std::string, std::string> renamed;
  bool any_device = false;
  // Slots for proof units (core/store/proof.h).
  int64_t proofs = 0;
  // Seconds after which a proof unit leaves the loops of a block that the plan skips; it then restores the
  // block's end. std::nullopt: proof units execute every block completely.
  std::optional<double> brief{};
  std::vector<Probe> probes;
  // The names of all log statements in the program's sources; "" among them: one is no literal. std::nullopt:
  // the program or the record has no sources.
  std::optional<std::set<std::string>> names{};
  std::vector<std::string> reasons;
  // The number of workers that it was cut for.
  std::size_t workers = 0;
  // Estimated seconds.
  double bound = 0, makespan = 0, serial = 0;

  // The name of a block of the program in the record.
  std::string recorded_name(const std::string& block) const {
    const auto at = renamed.find(block);
    return at == renamed.end() ? block : at->second;
  }
  bool executes(const std::string& block) const { return execute_all || execute.count(block) != 0; }
  bool executes_in_lead_in(const std::string& block) const {
    return lead_in_all || lead_in.count(block) != 0;
  }
};

// Does the last unit execute what follows the main loop? Plans of earlier versions do not say, so the run's
// manifest is asked, too.
bool covers_end(const Plan& plan, const Manifest& manifest);

// Returns a message for the user if the run was resumed since the plan was made, else an empty text.
std::string of_other_attempt(const Plan& plan, const Manifest& manifest);

Json to_json(const Plan& plan);
// Throws Error naming `file` where the plan is damaged: a field is missing or out of range. A plan decides
// which rows are produced.
Plan plan_from(const Json& json, const std::string& file);
Plan read_plan(const ReplayDir& replay);
// The same for the text of a plan. Throws Error, too, where it is `foreign`, another user's, and has more
// units or other values than trusted_file.h allows.
Plan plan_from_text(std::string_view text, const std::string& file, bool foreign);

}  // namespace flor::core
