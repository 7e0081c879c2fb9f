// Data flow of a program model: what functions change for their callers, where each statement may run, and
// which variables carry a value from iteration to iteration.
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

// A way in which a statement changes a path.
struct Definition {
  int statement = -1;
  AccessPath path{};
  bool deep = false;
  // The statement passes the path to a function of the program: the parameter (a symbol) of that function.
  int parameter = -1;
  // The statement calls a method on the path: the member (a nonlocal symbol) that the method changes.
  int member = -1;
  Cause cause = Cause::kCertain;
  // The method sets the member itself, not what it refers to.
  bool rebinds = false;
  // Of the modules that the path leads to it changes parameters and nothing else.
  bool steps = false;
};

class Flow {
 public:
  explicit Flow(const Model& model);

  const Model& model() const { return model_; }

  // Returns every way in which the path, or something that shares storage with it, is changed.
  [[nodiscard]] std::vector<const Definition*> definitions_of(const AccessPath& path) const;
  // Returns whether the change sets the module, or a module that contains it, to training or evaluation mode.
  [[nodiscard]] bool switches(const Definition& change, const AccessPath& module) const;
  // Returns whether the path means parameters or buffers, and the change sets one of them by name.
  [[nodiscard]] bool is_state(const Definition& change, const AccessPath& path) const;
  // Returns all changes of a statement, those by calls included.
  [[nodiscard]] const std::vector<Definition>& changes_of(int statement) const {
    return changes_[static_cast<size_t>(statement)];
  }
  // Returns the nonlocal paths that the function reads, itself or by calls, and the parts of its parameters
  // that it reads.
  [[nodiscard]] const std::set<AccessPath>& reads_of(int function) const {
    return reads_[static_cast<size_t>(function)];
  }
  // Returns whether reads_of() is incomplete because there are too many.
  [[nodiscard]] bool reads_too_much(int function) const;
  // Returns what the statement reads itself, without objects that it only passes to functions of the program.
  [[nodiscard]] const std::vector<AccessPath>& own_reads(int statement) const {
    return own_reads_[static_cast<size_t>(statement)];
  }
  // Returns whether the argument is an object of which the call reads only what its function reads of the
  // parameter.
  [[nodiscard]] bool hands_on(const Call& call, size_t position) const;
  // Returns whether the argument is an object, and the parameter of the callee a reference to it.
  [[nodiscard]] bool is_parameter(const Call& call, size_t position, int callee) const;
  // Translates a part of a parameter of the callee into paths of the caller. Empty for any other path.
  [[nodiscard]] std::vector<AccessPath> as_handed(const Call& call, int callee, const AccessPath& path) const;
  // Returns the name of a clock, a file or the machine that the function reads, itself or by calls. "": none.
  [[nodiscard]] const std::string& volatile_in(int function) const {
    return volatile_[static_cast<size_t>(function)];
  }
  [[nodiscard]] const std::vector<int>& callees_of(const Call& call) const { return call.callees; }
  // Returns whether the path is a member that a constructor reads of its own object, which had no value
  // before.
  [[nodiscard]] bool is_new_member(int callee, const AccessPath& path) const;
  [[nodiscard]] bool is_member(int symbol) const { return member_names_[static_cast<size_t>(symbol)] >= 0; }
  // Returns the variables that this one refers to, in one step.
  [[nodiscard]] const std::vector<int>& leads(int symbol) const {
    return leads_[static_cast<size_t>(symbol)];
  }
  // As leads(), but of a member only the variables that this member may refer to.
  [[nodiscard]] std::vector<int> leads_by(const AccessPath& path) const;
  // Returns whether the deep change may also change `symbol`, to which its path's variable leads.
  [[nodiscard]] bool reaches(const Definition& change, int symbol) const;
  // Returns the path that the value of a call is. Null: not known.
  [[nodiscard]] const AccessPath* result_path(int symbol) const;
  [[nodiscard]] AccessPath resolved(const AccessPath& path) const;

  // Returns whether the path of the callee is a member of the object that the method is called on.
  [[nodiscard]] bool is_of_receiver(const Call& call, int callee, const AccessPath& path) const;
  // Translates a path of the callee into one of the caller.
  [[nodiscard]] AccessPath as_called(const Call& call, int callee, const AccessPath& path) const;
  struct Site {
    int statement = -1;
    const Call* call = nullptr;
  };
  [[nodiscard]] const std::vector<Site>& callers_of(int function) const {
    return sites_[static_cast<size_t>(function)];
  }

  // Returns what a call of the function changes, except its own variables.
  [[nodiscard]] const std::vector<Definition>& summary_of(int function) const {
    return summaries_[static_cast<size_t>(function)];
  }
  // Returns the variables that this one refers to, in any number of steps, without itself. A deep change of
  // it may change them, and a read may read them.
  [[nodiscard]] const std::vector<int>& led_to(int symbol) const { return reach(leads_, led_to_, symbol); }

  // Returns the blocks during which the statement may run: those around it in the text, and those that reach
  // it by calls.
  [[nodiscard]] const std::set<int>& blocks_running(int statement) const;
  // Returns the blocks around the statement in the text.
  [[nodiscard]] const std::set<int>& blocks_around(int statement) const;
  // Returns whether the function contains a skip block, itself or in functions that it calls.
  [[nodiscard]] bool holds_blocks(int function) const { return holds_blocks_[static_cast<size_t>(function)]; }
  [[nodiscard]] bool in_main_loop(int statement) const { return in_loop_[static_cast<size_t>(statement)]; }
  // Returns whether the statement is the head of a main loop.
  [[nodiscard]] bool is_main_loop(int head) const;
  // Returns whether it is used as a module: it computes, or is set to train or to evaluate.
  [[nodiscard]] bool is_module(int symbol) const { return module_[static_cast<size_t>(symbol)]; }
  // Returns the variable that gets its whole value here and is not read. −1: none.
  [[nodiscard]] int sets_whole(int statement) const;
  // Returns whether the variable lives on from one iteration of the main loop to the next.
  [[nodiscard]] bool outlives_iteration(int symbol) const;
  // Returns whether an iteration may find in the path what an earlier one left there: its variable outlives
  // the iteration, the main loop changes it, and it is not set anew before its first use. A change of cause
  // kMode does not count, and gradients have their own rules.
  [[nodiscard]] bool is_carried(const AccessPath& path) const;
  // Returns the statement that enters the block.
  [[nodiscard]] int head_of(int block) const;
  // Returns the arguments of the block. Where one is a member that always stands for the same variable, also
  // that variable.
  [[nodiscard]] const std::vector<AccessPath>& held_by(int block) const {
    return held_[static_cast<size_t>(block)];
  }
  // Replaces a member that always stands for the same variable by that variable.
  [[nodiscard]] AccessPath bound(const AccessPath& path) const;
  // Returns how the block changes the path, or what shares storage with it. Null: it does not.
  [[nodiscard]] const Definition* change_in(int block, const AccessPath& path) const;
  // Returns whether the block, or a function that it may run, declares the variable each time.
  [[nodiscard]] bool declared_in(int block, int symbol) const;

 private:
  void join_shared();
  void join_results();
  bool join_result(const Result& result, int callee);
  void find_result_paths();
  void find_callers();
  void find_blocks();
  void find_unseen();
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
  void find_captured();
  void find_kept_changes();
  void add_kept_changes(const AccessPath& path, std::vector<const Definition*>* out) const;
  void forget() const;
  [[nodiscard]] bool is_set_anew(int symbol) const;

  const Model& model_;
  // From a variable to those that it refers to, and back.
  Graph leads_, led_by_;
  // The same, transitively. Computed on demand.
  mutable Reached led_to_, leading_;
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
  std::vector<bool> unseen_;                        // by statement: it may run in any block
  std::vector<bool> holds_blocks_, function_in_loop_, in_loop_;
  std::vector<MainLoop> loops_;
  std::map<int, AccessPath> result_paths_;
  int this_ = -1;                  // the symbol
  std::vector<int> member_names_;  // by symbol: the name of a nonlocal one that classes declare, else −1
  std::map<int, int> members_;     // back: of such a name its symbol
  std::vector<int> versions_;      // by function: how often what callers see of it grew
  std::vector<std::vector<int>> seen_;  // by statement: the versions of the callees that it knows
  std::vector<bool> module_;            // by symbol: it computes, or is set to train or to evaluate
  std::vector<int> captured_;           // variables that functions may use when their own is left
  std::vector<std::pair<const Definition*, int>>
      kept_changes_;                                       // of members, by lambdas of these classes (names)
  std::vector<std::vector<const Definition*>> by_symbol_;  // what changes it, but not by sharing
};

bool operator<(const AccessPath& a, const AccessPath& b);

// Returns a part of the object. Members that lie too deep are left out: the part is then larger.
AccessPath within(const AccessPath& object, const Fields& fields);

}  // namespace flor::probes
