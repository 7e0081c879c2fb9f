// Computes what the row of a probe depends on, and which blocks have to execute for it to be right
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

// What one probe needs. Blocks by their positions in the model.
struct Wants {
  // Blocks that change what it reads and do not hold it.
  std::set<int> execute;
  // Of these: blocks that must also execute in earlier iterations, which carry something over.
  std::set<int> lead_in;
  // All blocks that change what it reads.
  std::set<int> depends;
  // No iteration checkpoint contains something that is carried over.
  bool from_start = false;
  std::vector<Input> inputs;
  // Without the location of the probe: "reads seen, which …: it executes".
  std::vector<std::string> reasons;
  // There is too much to follow: everything counts as changed.
  bool too_much = false;
  // The clock, file or machine that it reads. "": none.
  std::string volatile_name;
  // The statements that read it.
  std::set<int> volatile_at;
};

class Slice {
 public:
  // `executing`: blocks that execute whatever the probe needs. `steps`: how much more may be looked at, for
  // all probes together; updated.
  Slice(const Flow& flow, const std::set<int>& executing, int64_t& steps)
      : flow_(flow), model_(flow.model()), executing_(executing), steps_(steps) {}

  // Analyses the log call in this statement.
  Wants of(int statement);

 private:
  // Inputs that are listed.
  static constexpr size_t kMaxInputs = 60;
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
  // Statements, paths and changes that may still be looked at.
  int64_t& steps_;
  // Looks at earlier iterations.
  bool leading_ = false;
  // Blocks that change what it reads and do not hold it.
  std::set<int> unheld_;
  // Changes that carry over a path that is not held.
  std::set<std::pair<const Definition*, AccessPath>> carrying_;
  std::set<int> needed_, controlled_, functions_;
  std::set<AccessPath> visited_;
  std::set<std::pair<AccessPath, int>> read_;
};

}  // namespace flor::probes
