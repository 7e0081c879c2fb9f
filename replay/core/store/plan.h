// plan.json: the question, the units that answer it and how they were cut. Written once by the planner, read
// by every worker and agent. Field by field in docs/formats.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/store/store.h"
#include "core/store/unit_set.h"

namespace flor::core {

// The work between two consecutive restorable checkpoints: iterations first … last of the main loop, or a
// part of one: of iteration `first` the steps of the plan's inner loop from `from` on, of iteration `last`
// those in front of `to`.
struct Unit {
  int64_t id = 0;
  int64_t first = 0;  // values of the main loop, both inside the unit
  int64_t last = 0;
  std::string entry;     // the iteration checkpoint that it starts from; empty: entered by pseudoresume
  double cost = 0;       // seconds when every block of it executes
  double skip_cost = 0;  // seconds when every block with a checkpoint is skipped (pseudoresume, outer probes)
  double restore = 0;    // seconds to restore `entry` and `step`
  double work = 0;       // seconds that it takes in this replay, the restore of its entry included
  int64_t from = -1;     // -1: all of iteration `first`, what stands in front of the inner loop included
  int64_t to = -1;       // -1: all of iteration `last`, what stands behind the inner loop included
  std::string
      step{};  // where `from` is set: the step checkpoint that it starts from, once `entry` is restored
  // Of a proof unit (core/store/proof.h): the units that it executes as one.
  std::optional<UnitRange> proves{};
  bool behind_loop = false;  // of a proof unit: it executes what follows the main loop as well

  bool is_proof() const { return proves.has_value(); }
  int64_t begin_id() const { return proves ? proves->first : id; }  // of the plan's unit that it begins as
};

// Something that a probe's row is computed from.
struct ProbeInput {
  std::string name;                    // as the program calls it: "meter.sum"
  bool held = true;                    // does a replay that skips blocks have its value?
  std::string why{};                   // one line
  std::set<std::string> changed_by{};  // blocks that change it and do not hold it
};

// Why a probe's rows can be believed before anything is proved by execution (docs/semantics.md, rules 18a -
// 19b).
enum class Founding {
  executed,  // every block that changes what it reads executes in the unit
  held,      // a block is skipped, and the analysis found all that the probe reads held
  unproved   // the user's --probe skips a block that changes what it reads
};
const char* to_string(Founding founding);

struct Probe {
  std::string name;  // empty where it is no literal
  std::string file;
  int line = 0;
  std::string block;  // empty: outside all blocks
  Founding founding = Founding::executed;
  std::string why{};  // of `unproved`
  // Why its rows are not given where a block in front of it was skipped: it reads clocks or the machine.
  // Empty: they are.
  std::string withheld{};
  std::vector<ProbeInput> inputs{};
  bool is_volatile = false;         // it reads them; where its rows are given, they are not compared
  std::set<std::string> depends{};  // blocks that execute if its rows turn out wrong
};

// The question of a replay that only checks (`flor check --complete`): its rows answer nobody.
inline constexpr const char* check_question = "check";

struct Plan {
  std::string run, replay, question;
  std::string recipe;  // of a unit's rows: the question, but for which units it is about
  std::vector<std::string> command;
  bool complete = false;  // units are entered by restoring; else by pseudoresume, forward only
  // Where units may begin and end inside of an iteration: the scope path from there to the loop, without its
  // value
  // ("train#0/step"); empty: they do not.
  std::string inner;
  std::vector<Unit> units;  // all of the run, in order; unit ids are positions
  UnitSet selected;
  std::vector<UnitRange> segments;
  bool balance = true;  // idle workers take from running segments; false: segments stay as they were cut
  bool copies = true;   // they may also execute a unit whose worker is slow
  bool execute_all = false;
  std::set<std::string> execute;  // blocks that execute, by their recorded names
  // Blocks that also execute in front of a unit that is entered by running from the start: a skipped one
  // would leave something stale that the unit reads. Others that execute (a log was added in them) are
  // skipped there.
  bool lead_in_all = false;
  std::set<std::string> lead_in;
  std::map<std::string, std::string> renamed;  // blocks with a new name: that name → the recorded one
  bool any_device = false;
  int64_t proofs = 0;  // slots for proof units (core/store/proof.h)
  // Proof units leave the loops of a block that the plan skips after so many seconds, and restore the
  // block's end; nothing: they execute every block wholly.
  std::optional<double> brief{};
  std::vector<Probe> probes;
  std::vector<std::string> reasons;
  std::size_t workers = 0;                     // that it was cut for
  double bound = 0, makespan = 0, serial = 0;  // seconds, estimated

  // The name under which the record has a block of the program.
  std::string recorded_name(const std::string& block) const {
    const auto at = renamed.find(block);
    return at == renamed.end() ? block : at->second;
  }
  bool executes(const std::string& block) const { return execute_all || execute.count(block) != 0; }
  bool executes_in_lead_in(const std::string& block) const {
    return lead_in_all || lead_in.count(block) != 0;
  }
};

Json to_json(const Plan& plan);
// Throws Error naming `file` where a field is missing or out of range: a plan decides which rows are
// produced.
Plan plan_from(const Json& json, const std::string& file);
Plan read_plan(const ReplayDir& replay);

}  // namespace flor::core
