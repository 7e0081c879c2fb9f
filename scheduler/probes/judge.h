// What do the edits of one file make a replay execute?
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "scheduler/probes/block_checks.h"
#include "scheduler/probes/harmless.h"
#include "scheduler/probes/log_calls.h"
#include "scheduler/probes/probes.h"
#include "scheduler/probes/program.h"
#include "scheduler/probes/tree_diff.h"

namespace flor::probes {

// Collects the answer. A reason is given once.
class Answer {
 public:
  // "WHERE: WHY: every block executes"
  void everything(const std::string& where, const std::string& why);
  void execute(const std::string& block) { decision_.blocks.insert(block); }
  void execute_in_lead_in(const std::string& block) {
    execute(block);
    decision_.lead_in.insert(block);
  }
  void from_start() { decision_.from_start = true; }
  void whole_iterations(const std::string& where, const std::string& why);
  void renamed(const std::string& present, const std::string& recorded) {
    decision_.renamed[present] = recorded;
  }
  void say(const std::string& where, const std::string& what);
  void log(AddedLog log) { decision_.logs.push_back(std::move(log)); }
  Decision take();

 private:
  Decision decision_;
  std::set<std::string> said_;
};

// Judges the edits between a recorded file and its present partner.
class Judge {
 public:
  Judge(const Program& recorded, const Program& present, const Source& before, const Source& after,
        Answer* answer);

  void run();

 private:
  void added(const Edit& edit);
  void removed(const Edit& edit);
  void renamed(const Edit& edit);

  // Why an added or removed node is not harmless, "" where it is.
  [[nodiscard]] std::string objection(int node, const std::vector<LogCall>& logs);
  [[nodiscard]] std::string objection_to_place(int node) const;
  [[nodiscard]] bool tears_else(const Tree& tree, int node, const std::set<int>& edited) const;
  [[nodiscard]] std::string changed(const Tree& tree, int node) const;

  // What a harmless added node makes execute; true if that is more than the blocks around it.
  void executes_around(int node, const std::vector<LogCall>& logs);
  bool reads_gradients(int node, const std::string& where);
  bool reads_unrestored(int node, const std::string& where);
  void reads_between_steps(int node, const std::string& where);
  void execute_with_outer(int block);

  [[nodiscard]] std::vector<LogCall> without_removed(std::vector<LogCall> logs);
  void report(int node, const std::vector<LogCall>& logs);
  [[nodiscard]] int block_of(int node, size_t token) const;
  [[nodiscard]] std::string where(int line) const;

  const Program& recorded_;
  const Program& present_;
  const Source& before_;
  const Source& after_;
  Answer& answer_;
  std::set<int> added_, removed_;  // nodes
  // Calls of the recorded file inside statements that were taken out, other than log statements, as text.
  std::multiset<std::string> removed_logs_;
  // Variables that harmless statements declared, by the loop outside of blocks that they live in: one that an
  // iteration hands on to the next would be stale where replay jumps, so it is not to be assigned in another
  // loop.
  std::map<int, Scope> scopes_, removed_scopes_;
  std::map<int, Stale> unrestored_;      // of each block of the present file
  std::set<std::string> between_steps_;  // unrestored_between_steps() of it
};

}  // namespace flor::probes
