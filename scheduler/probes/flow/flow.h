// What happens when the statements of a model run: what functions change for their callers, where each
// statement may run, and which variables hand something on from iteration to iteration.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "probes/program/model.h"

namespace flor::probes {

// How a statement comes to change a path.
struct Definition {
  int statement = -1;
  AccessPath path{};
  bool deep = false;
  int parameter = -1;  // by handing it to a function of the program: that one's parameter (a symbol)
  int member = -1;     // by calling a method on it: the member (a nonlocal symbol) that this changes
  Cause cause = Cause::kCertain;
  bool rebinds = false;  // that sets the member itself, not what it leads to
};

class Flow {
 public:
  explicit Flow(const Model& model);

  const Model& model() const { return model_; }

  // Every way in which the path, or something that it shares storage with, is changed.
  [[nodiscard]] std::vector<const Definition*> definitions_of(const AccessPath& path) const;
  // Does the change set the module to train or to evaluate, or one that it is part of?
  [[nodiscard]] bool switches(const Definition& change, const AccessPath& module) const;
  // Are the parameters or buffers asked for, and one of them changed by its name?
  [[nodiscard]] bool is_state(const Definition& change, const AccessPath& path) const;
  // All changes of a statement, those by calls included.
  [[nodiscard]] const std::vector<Definition>& changes_of(int statement) const {
    return changes_[static_cast<size_t>(statement)];
  }
  // The nonlocal paths that the function reads, itself or by calls, and what it reads of its parameters.
  [[nodiscard]] const std::set<AccessPath>& reads_of(int function) const {
    return reads_[static_cast<size_t>(function)];
  }
  // Are there too many of them to be told?
  [[nodiscard]] bool reads_too_much(int function) const;
  // What the statement reads by itself: without the objects that it only hands to functions of the program.
  [[nodiscard]] const std::vector<AccessPath>& own_reads(int statement) const {
    return own_reads_[static_cast<size_t>(statement)];
  }
  // Is the argument an object of which the call reads nothing but what its function reads of the parameter?
  [[nodiscard]] bool hands_on(const Call& call, size_t position) const;
  // Is the argument an object, and the callee's parameter a reference to it?
  [[nodiscard]] bool is_parameter(const Call& call, size_t position, int callee) const;
  [[nodiscard]] std::vector<AccessPath> as_handed(const Call& call, int callee, const AccessPath& path) const;
  // Reads a clock, a file or the machine, itself or by calls: its name; "" where it does not.
  [[nodiscard]] const std::string& volatile_in(int function) const {
    return volatile_[static_cast<size_t>(function)];
  }
  [[nodiscard]] const std::vector<int>& callees_of(const Call& call) const { return call.callees; }
  // Is it a member that a constructor reads of its own object? Nothing was there before.
  [[nodiscard]] bool is_new_member(int callee, const AccessPath& path) const;
  [[nodiscard]] bool is_member(int symbol) const { return member_names_[static_cast<size_t>(symbol)] >= 0; }
  // The same, one step; and the path that the value of a call is, where that is known.
  [[nodiscard]] const std::vector<int>& leads(int symbol) const {
    return leads_[static_cast<size_t>(symbol)];
  }
  [[nodiscard]] std::vector<int> leads_by(const AccessPath& path) const;
  [[nodiscard]] bool reaches(const Definition& change, int symbol) const;
  [[nodiscard]] const AccessPath* result_path(int symbol) const;

  // What the callee's path is to the caller: a member of the object that a method is called on is that
  // object's.
  [[nodiscard]] bool is_of_receiver(const Call& call, int callee, const AccessPath& path) const;
  [[nodiscard]] AccessPath as_called(const Call& call, int callee, const AccessPath& path) const;
  struct Site {
    int statement = -1;
    const Call* call = nullptr;
  };
  [[nodiscard]] const std::vector<Site>& callers_of(int function) const {
    return sites_[static_cast<size_t>(function)];
  }

  // What a call of the function changes that is none of its own variables.
  [[nodiscard]] const std::vector<Definition>& summary_of(int function) const {
    return summaries_[static_cast<size_t>(function)];
  }
  // What a variable leads to: to change it in depth may change these, to read it may read them. Without
  // itself.
  [[nodiscard]] const std::vector<int>& led_to(int symbol) const { return reach(leads_, led_to_, symbol); }

  // The blocks in whose execution the statement may run, as the text has it and by calls.
  [[nodiscard]] const std::set<int>& blocks_running(int statement) const;
  [[nodiscard]] const std::set<int>& blocks_around(int statement) const;  // as the text has it
  [[nodiscard]] bool holds_blocks(int function) const { return holds_blocks_[static_cast<size_t>(function)]; }
  [[nodiscard]] bool in_main_loop(int statement) const { return in_loop_[static_cast<size_t>(statement)]; }
  [[nodiscard]] bool is_main_loop(int head) const;  // is the statement the head of one?
  [[nodiscard]] bool is_module(int symbol) const { return module_[static_cast<size_t>(symbol)]; }
  [[nodiscard]] int sets_whole(int statement) const;
  // Does the variable live on from one iteration of the main loop to the next?
  [[nodiscard]] bool outlives_iteration(int symbol) const;
  // Does it, and is it not set anew at the top of each?
  [[nodiscard]] bool is_carried(const AccessPath& path) const;
  [[nodiscard]] int head_of(int block) const;  // the statement that steps into it
  // Its arguments; where one is a member that always stands for the same variable, that variable, too.
  [[nodiscard]] const std::vector<AccessPath>& held_by(int block) const {
    return held_[static_cast<size_t>(block)];
  }
  [[nodiscard]] AccessPath bound(const AccessPath& path) const;
  // Does the block change the path, or what it shares storage with?
  [[nodiscard]] const Definition* change_in(int block, const AccessPath& path) const;
  [[nodiscard]] bool declared_in(int block, int symbol) const;

 private:
  void join_shared();
  void join_results();
  void find_callers();
  void find_blocks();
  void find_loops();
  [[nodiscard]] int bound_to(int member) const;
  void find_held();
  void find_own_reads();
  [[nodiscard]] bool tells_reads(int function) const;
  void summarise();
  bool summarise(int function);
  [[nodiscard]] bool has_news(int statement) const;
  void apply(int statement, const Call& call, int callee, std::vector<Definition>* out) const;
  void index();
  using Graph = std::vector<std::vector<int>>;
  struct Reached {
    std::vector<std::vector<int>> found;
    std::vector<bool> known;
  };
  const std::vector<int>& reach(const Graph& graph, Reached& memory, int symbol) const;
  bool join(int from, int to);
  bool join_by(int object, int to, const std::set<int>& members);
  bool join_kept();
  void forget() const;
  [[nodiscard]] bool is_set_anew(int symbol) const;

  const Model& model_;
  Graph leads_, led_by_;              // from a variable to those that it leads to, and back
  mutable Reached led_to_, leading_;  // the same, transitively; computed when asked
  std::map<std::pair<int, int>, std::set<int>> kept_by_;  // of such a step: by these members alone (names)
  mutable std::map<std::tuple<int, int, bool>, std::set<int>>
      by_member_;                                   // what a variable's member leads to
  std::vector<std::vector<Site>> sites_;            // by function
  std::vector<std::vector<Definition>> changes_;    // by statement
  std::vector<std::vector<Definition>> summaries_;  // by function: what its callers may see
  std::vector<std::set<AccessPath>> reads_;         // by function
  std::vector<std::vector<AccessPath>> own_reads_;  // by statement
  std::vector<std::string> volatile_;               // by function
  std::vector<std::set<int>> around_;               // by statement: blocks
  std::vector<const std::set<int>*> running_;       // by statement: one of the sets above or below
  std::deque<std::set<int>> around_and_calling_;    // of statements in blocks of functions that blocks run
  std::vector<std::set<int>> function_blocks_;      // by function: blocks that may run it
  std::map<int, int> bound_;                        // members: the variables that they always stand for
  std::vector<std::vector<AccessPath>> held_;       // by block
  std::vector<bool> holds_blocks_, function_in_loop_, in_loop_;
  std::vector<MainLoop> loops_;
  std::map<int, AccessPath> result_paths_;
  int this_ = -1;                  // the symbol
  std::vector<int> member_names_;  // by symbol: the name of a nonlocal one that classes declare, else −1
  std::map<int, int> members_;     // back: of such a name its symbol
  std::vector<int> versions_;      // by function: how often what callers see of it grew
  std::vector<std::vector<int>> seen_;  // by statement: the versions of the callees that it knows
  std::vector<bool> module_;            // by symbol: it computes, or is set to train or to evaluate
  std::vector<std::vector<const Definition*>> by_symbol_;  // what changes it, but not by sharing
};

bool operator<(const AccessPath& a, const AccessPath& b);

}  // namespace flor::probes
