// What a probe's row is computed from, and which blocks have to execute for it to be right
// (docs/semantics.md, rules 18a and 18b).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "probes/flow/flow.h"
#include "probes/probes.h"

namespace flor::probes {

// What one probe wants. Blocks by their positions in the model.
struct Wants {
  std::set<int> execute;    // they change what it reads, and do not hold it
  std::set<int> lead_in;    // … also in the iterations before, of which something is handed on
  std::set<int> depends;    // all that change what it reads
  bool from_start = false;  // something that is handed on is in no iteration checkpoint
  std::vector<Input> inputs;
  std::vector<std::string> reasons;  // without the place of the probe: "reads seen, which …: it executes"
  bool too_much = false;             // there is more to follow than is worth it: everything counts as changed
  std::string volatile_name;         // the clock, file or machine that it reads; "" none
  std::set<int> volatile_at;         // the statements that read them
};

class Slice {
 public:
  // `executing`: blocks that execute whatever the probe wants.
  // `steps`: how much more may be looked at, of all probes together; what is left is written back.
  Slice(const Flow& flow, const std::set<int>& executing, int64_t& steps)
      : flow_(flow), model_(flow.model()), executing_(executing), steps_(steps) {}

  // Of the log call that stands in this statement.
  Wants of(int statement);

 private:
  static constexpr size_t kMaxInputs = 60;  // that are listed
  bool go_on() { return --steps_ > 0; }

  void need(int statement);
  void control(int statement);
  void call(int statement, const Call& call);
  void read_at(const AccessPath& path, int statement);
  void read(const AccessPath& path, int function);
  void visit(const AccessPath& path);
  bool set_before(const AccessPath& path, int statement);
  [[nodiscard]] bool is_switched_before(const AccessPath& module, int statement) const;
  bool restored_before(const AccessPath& path, int statement);
  void define(const Definition& one, const AccessPath& wanted);
  [[nodiscard]] Fields part_wanted(const Definition& one, const Call& call, const AccessPath& wanted) const;
  void parameter(const Symbol& symbol, const AccessPath& path);
  [[nodiscard]] bool stands_for_arguments(const Symbol& symbol) const;
  void carried(const AccessPath& path, Input& input);
  void forget();
  void lead_in();
  [[nodiscard]] bool always_runs(int statement, int depth) const;
  bool blocks_of(const Definition& one, const AccessPath& path, Input& input);
  void reads_machine(const std::string& name, int statement);
  [[nodiscard]] bool jump_matters(int jump, int statement) const;
  [[nodiscard]] bool executes(int block) const;

  const Flow& flow_;
  const Model& model_;
  const std::set<int>& executing_;
  Wants wants_;
  int probe_ = -1;
  int depth_ = 0;
  int64_t& steps_;        // left: statements, paths and changes to be looked at
  bool leading_ = false;  // asks about the iterations before
  std::set<int> unheld_;  // blocks that change what it reads and do not hold it
  std::set<std::pair<const Definition*, AccessPath>> carrying_;  // what hands on which path that is not held
  std::set<int> needed_, controlled_, functions_;
  std::set<AccessPath> visited_;
  std::set<std::pair<AccessPath, int>> read_;
};

}  // namespace flor::probes
