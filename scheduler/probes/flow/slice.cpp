#include "probes/flow/slice.h"

#include <algorithm>

#include "probes/cxx/library.h"
#include "probes/flow/held.h"

namespace flor::probes {
namespace {

constexpr int kMaxCallers = 8;  // of callers of callers
constexpr int kMaxDepth = 400;  // of a chain of computations: deeper ones are taken for not held

}  // namespace

Wants Slice::of(int statement) {
  // A block that executes makes more of the program matter. Repeat until nothing is added.
  std::set<int> known;
  do {
    known = wants_.execute;
    const Wants before = std::move(wants_);
    wants_ = {};
    wants_.execute = before.execute;
    wants_.reasons = before.reasons;
    carrying_.clear();
    forget();
    probe_ = statement;
    need(statement);
    lead_in();
  } while (wants_.execute != known && steps_ > 0);
  wants_.too_much = steps_ <= 0;
  return std::move(wants_);
}

void Slice::forget() {
  needed_.clear();
  controlled_.clear();
  functions_.clear();
  visited_.clear();
  unheld_.clear();
  read_.clear();
}

// What is handed on is computed in the iterations before, too, and from what blocks change there.
void Slice::lead_in() {
  if (carrying_.empty()) return;
  const std::vector<Input> inputs = wants_.inputs;
  const auto carrying = carrying_;
  leading_ = true;
  for (size_t before = wants_.lead_in.size() + 1; before != wants_.lead_in.size();) {
    before = wants_.lead_in.size();
    forget();
    for (const auto& [one, path] : carrying) define(*one, path);
    wants_.lead_in.insert(unheld_.begin(), unheld_.end());
  }
  leading_ = false;
  wants_.inputs = inputs;
}

// Does the block execute, in the iterations that are asked about?
bool Slice::executes(int block) const {
  if (leading_) return wants_.lead_in.count(block) != 0;
  return executing_.count(block) != 0 || wants_.execute.count(block) != 0;
}

// Does the statement run in each iteration of the main loop, or once in front of it?
bool Slice::always_runs(int statement, int depth) const {
  const Statement& at = model_.statement(statement);
  if (at.parent >= 0 && !flow_.is_main_loop(at.parent)) return false;
  for (const int other : model_.function(at.function).statements) {
    const Statement& jump = model_.statement(other);
    if (jump.jumps && other != statement && jump.begin < at.begin && jump_matters(other, statement))
      return false;
  }
  const auto& callers = flow_.callers_of(at.function);
  return depth > 0 && std::all_of(callers.begin(), callers.end(), [&](const Flow::Site& site) {
           return at.parent >= 0 || always_runs(site.statement, depth - 1);
         });
}

void Slice::need(int statement) {
  if (!go_on()) return;
  if (!needed_.insert(statement).second) return;
  const Statement& at = model_.statement(statement);
  if (!at.volatile_name.empty()) reads_machine(at.volatile_name, statement);
  for (const AccessPath& path : flow_.own_reads(statement)) read_at(path, statement);
  for (const Call& one : at.calls) call(statement, one);
  control(statement);
}

void Slice::reads_machine(const std::string& name, int statement) {
  // A file that is read in front of the main loop is read anew by each worker.
  if (!flow_.in_main_loop(statement) && !is_clock_name(name)) return;
  wants_.volatile_at.insert(statement);
  if (wants_.volatile_name.empty()) wants_.volatile_name = name;
}

// Whether the statement runs: the conditions around it, and what may leave in front of it.
void Slice::control(int statement) {
  if (!go_on()) return;
  if (!controlled_.insert(statement).second) return;
  const Statement& at = model_.statement(statement);
  for (int up = at.parent; up >= 0; up = model_.statement(up).parent) need(up);
  for (const int other : model_.function(at.function).statements) {
    const Statement& jump = model_.statement(other);
    if (!jump.jumps || other == statement || !jump_matters(other, statement)) continue;
    for (int up = jump.parent; up >= 0; up = model_.statement(up).parent) need(up);
  }
  if (!functions_.insert(at.function).second) return;
  if (model_.function(at.function).at >= 0) control(model_.function(at.function).at);
  for (const Flow::Site& site : flow_.callers_of(at.function)) control(site.statement);
}

// May the jump decide whether the statement runs?
bool Slice::jump_matters(int jump, int statement) const {
  const Statement& from = model_.statement(jump);
  const Statement& to = model_.statement(statement);
  const auto& tokens = model_.program->sources[static_cast<size_t>(from.source)].tree;
  const bool local = tokens.is(from.begin, "break") || tokens.is(from.begin, "continue");
  const auto loop_of = [&](int index) {
    for (int up = model_.statement(index).parent; up >= 0; up = model_.statement(up).parent) {
      const size_t begin = model_.statement(up).begin;
      if (tokens.is(begin, "for") || tokens.is(begin, "while") || tokens.is(begin, "do")) return up;
      if (tokens.is(begin, "switch") && tokens.is(from.begin, "break")) return up;
    }
    return -1;
  };
  const int loop = loop_of(jump);
  bool shares_loop = false;
  for (int up = to.parent; up >= 0; up = model_.statement(up).parent) shares_loop = shares_loop || up == loop;
  // The record shows that the main loop came this far.
  const bool main = loop >= 0 && flow_.is_main_loop(loop);
  if (local) return loop >= 0 && shares_loop && (!main || from.begin < to.begin);
  return from.begin < to.begin || (loop >= 0 && shares_loop && !main);
}

// What a call yields: what its function reads, or, where that holds blocks, what it returns.
void Slice::call(int statement, const Call& one) {
  for (const int callee : flow_.callees_of(one)) {
    const Function& function = model_.function(callee);
    if (!flow_.volatile_in(callee).empty()) reads_machine(flow_.volatile_in(callee), statement);
    if (flow_.holds_blocks(callee)) {
      for (const int inner : function.statements) {
        if (model_.statement(inner).returns) need(inner);
      }
      continue;
    }
    for (size_t i = 0; flow_.reads_too_much(callee) && i < one.arguments.size(); ++i) {
      for (const AccessPath& root : one.arguments[i].roots) read_at(root, statement);
    }
    for (const AccessPath& path : flow_.reads_of(callee)) {
      const Symbol& symbol = model_.symbol(path.symbol);
      if (symbol.function == callee) {
        if (symbol.lasting) visit(path);
        for (const AccessPath& handed : flow_.as_handed(one, callee, path)) read_at(handed, statement);
        continue;
      }
      if (flow_.is_new_member(callee, path)) continue;
      const bool of_receiver = flow_.is_of_receiver(one, callee, path);
      const int caller = model_.statement(statement).function;
      read(flow_.as_called(one, callee, path), of_receiver || !function.method ? caller : callee);
    }
  }
}

void Slice::read_at(const AccessPath& path, int statement) {
  if (set_before(path, statement) || restored_before(path, statement)) return;
  const bool module = path.fields.empty() || model_.registered.count(path.fields.back()) != 0;
  if (module && flow_.is_module(path.symbol) && is_switched_before(path, statement)) {
    AccessPath but_mode = path;
    but_mode.fields.push_back(model_.find("(*)"));
    return read(but_mode, model_.statement(statement).function);
  }
  read(path, model_.statement(statement).function);
}

// A method reads the members of the object that it is called on.
void Slice::read(const AccessPath& path, int function) {
  if (!go_on()) return;
  const bool member = flow_.is_member(path.symbol) && model_.function(function).method;
  const auto& callers = flow_.callers_of(function);
  if (!member || flow_.holds_blocks(function) || callers.empty()) return visit(path);
  if (!read_.insert({path, function}).second) return;
  for (const Flow::Site& site : callers) {
    if (!site.call->method || site.call->receiver.symbol < 0) {
      read(path, model_.statement(site.statement).function);
      continue;
    }
    read(flow_.as_called(*site.call, function, path), model_.statement(site.statement).function);
  }
}

void Slice::visit(const AccessPath& path) {
  const Symbol& symbol = model_.symbol(path.symbol);
  if (!go_on() || !visited_.insert(path).second) return;
  if (symbol.name == "(result)") {
    if (const AccessPath* exact = flow_.result_path(path.symbol)) return visit(*exact);
    for (const int other : flow_.leads(path.symbol)) visit({other, {}});
    return;
  }
  Input input{"", true, ""};
  if (symbol.loop_value) {
    input.why = "the variable of a flor::loop";
  } else if (symbol.constant) {
    input.why = "a constant";
  }
  if (!input.why.empty()) {
    if (symbol.constant) {
      for (const Definition* one : flow_.definitions_of(path)) define(*one, path);
    }
    if (wants_.inputs.size() < kMaxInputs) wants_.inputs.push_back({model_.text_of(path), true, input.why});
    return;
  }
  if (++depth_ > kMaxDepth) {
    for (size_t b = 0; b < model_.blocks.size(); ++b) wants_.execute.insert(static_cast<int>(b));
    --depth_;
    return;
  }
  if (symbol.parameter >= 0) parameter(symbol, path);
  bool restored = false;
  for (size_t b = 0; b < model_.blocks.size(); ++b)
    restored = restored || (!executes(static_cast<int>(b)) && block_holds(flow_, static_cast<int>(b), path));
  for (const Definition* one : flow_.definitions_of(path)) {
    if (blocks_of(*one, path, input)) define(*one, path);
  }
  if (flow_.is_carried(path) && !stands_for_arguments(symbol)) carried(path, input);
  // What it leads to it shares, but where it is restored as it was.
  if (!restored) {
    const bool options = !path.fields.empty() && model_.text(path.fields.back()) == "(options)";
    for (const int other : flow_.leads_by(path)) {
      // An optimizer leads to parameters, never to the mode of their module.
      const bool but_mode = begins_with(symbol.type, "torch::optim::") && flow_.is_module(other);
      if (!options) visit({other, but_mode ? Fields{model_.find("(*)")} : Fields{}});
      if (options && !flow_.is_module(other)) visit({other, {path.fields.back()}});
    }
  }
  const bool listed = symbol.name.find("::") == std::string::npos && symbol.name[0] != '(';
  if (listed && wants_.inputs.size() < kMaxInputs) {
    if (input.why.empty()) input.why = "no skipped block changes it";
    input.name = model_.text_of(path);
    wants_.inputs.push_back(std::move(input));
  }
  --depth_;
}

// Returns whether the symbol is only another name of what callers pass in; these are analysed themselves.
bool Slice::stands_for_arguments(const Symbol& symbol) const {
  if (symbol.parameter < 0 || !symbol.reference) return false;
  const Function& function = model_.function(symbol.function);
  const auto& callers = flow_.callers_of(symbol.function);
  const auto position = static_cast<size_t>(symbol.parameter);
  return !function.escapes && !function.implicit && !callers.empty() &&
         std::all_of(callers.begin(), callers.end(), [&](const Flow::Site& site) {
           return position < site.call->arguments.size() && !site.call->arguments[position].roots.empty();
         });
}

// Follows what callers pass in.
void Slice::parameter(const Symbol& symbol, const AccessPath& path) {
  for (const Flow::Site& site : flow_.callers_of(symbol.function)) {
    if (static_cast<size_t>(symbol.parameter) >= site.call->arguments.size()) continue;
    const Argument& argument = site.call->arguments[static_cast<size_t>(symbol.parameter)];
    if (!flow_.is_parameter(*site.call, static_cast<size_t>(symbol.parameter), symbol.function)) {
      for (const AccessPath& one : argument.reads) read_at(one, site.statement);
    }
    for (const AccessPath& one : flow_.as_handed(*site.call, symbol.function, path))
      read_at(one, site.statement);
    for (const Call& other : model_.statement(site.statement).calls) {
      if (&other != site.call) call(site.statement, other);
    }
  }
}

// Does this change have to run for the probe? Notes the blocks that it runs in.
bool Slice::blocks_of(const Definition& one, const AccessPath& path, Input& input) {
  const std::set<int>& blocks = flow_.blocks_running(one.statement);
  bool wanted = blocks.empty();
  for (const int block : blocks) {
    if (flow_.declared_in(block, path.symbol)) {
      wanted = true;
      continue;
    }
    wants_.depends.insert(block);
    const bool holds = block_holds(flow_, block, path);
    const Block& at = model_.blocks[static_cast<size_t>(block)];
    if (holds && !executes(block)) {
      if (input.why.empty()) input.why = "block " + at.name + " holds it";
      continue;
    }
    wanted = true;
    if (holds) continue;
    unheld_.insert(block);
    const std::string where = model_.where(model_.statement(one.statement));
    input.held = false;
    input.changed_by.insert(at.name);
    input.why = "block " + at.name + " changes it (" + where + ") and does not hold it";
    if (executing_.count(block) == 0 && wants_.execute.insert(block).second) {
      wants_.reasons.push_back("reads " + model_.text_of(path) + ", which block " + at.name + " changes (" +
                               where + ") and does not hold: it executes");
    }
  }
  return wanted;
}

// If a variable is passed to a function as it is, the function need only change the wanted part.
Fields Slice::part_wanted(const Definition& one, const Call& call, const AccessPath& wanted) const {
  if (one.parameter < 0) return {};
  const auto position = static_cast<size_t>(model_.symbol(one.parameter).parameter);
  if (position >= call.arguments.size()) return {};
  const Argument& argument = call.arguments[position];
  const bool whole = argument.is_variable && argument.roots.size() == 1 &&
                     argument.roots[0].symbol == wanted.symbol && argument.roots[0].fields.empty();
  return whole ? wanted.fields : Fields{};
}

void Slice::define(const Definition& one, const AccessPath& wanted) {
  if (!go_on()) return;
  const Statement& there = model_.statement(one.statement);
  const bool within_call = one.parameter >= 0 || one.member >= 0;
  const bool calls_blocks =
      within_call && std::any_of(there.calls.begin(), there.calls.end(), [&](const Call& call) {
        const std::vector<int>& callees = flow_.callees_of(call);
        return std::any_of(callees.begin(), callees.end(),
                           [&](int callee) { return flow_.holds_blocks(callee); });
      });
  if (one.cause == Cause::kSwitch && !calls_blocks) return control(one.statement);
  if (one.cause == Cause::kMode && !calls_blocks) {  // what a module counts of its input
    for (const AccessPath& path : model_.statement(one.statement).reads) {
      if (!flow_.is_module(path.symbol)) read_at(path, one.statement);
    }
    return control(one.statement);
  }
  if (one.parameter < 0 && one.member < 0) return need(one.statement);
  const Statement& at = model_.statement(one.statement);
  control(one.statement);
  for (const Call& other : at.calls) {
    for (const int callee : flow_.callees_of(other)) {
      const bool its = one.parameter >= 0 ? model_.symbol(one.parameter).function == callee : true;
      if (!its) continue;
      if (flow_.holds_blocks(callee)) {
        visit({one.parameter >= 0 ? one.parameter : one.member, part_wanted(one, other, wanted)});
        continue;
      }
      for (size_t i = 0; i < other.arguments.size(); ++i) {
        if (flow_.hands_on(other, i)) continue;
        for (const AccessPath& path : other.arguments[i].reads) read_at(path, one.statement);
      }
      call(one.statement, other);
    }
  }
}

// The path carries something from iteration to iteration.
void Slice::carried(const AccessPath& path, Input& input) {
  const bool guarded = model_.has_guard && guard_holds(flow_, path);
  if (guarded) {
    if (input.held) input.why = "the guard in front of the main loop holds it";
    return;
  }
  if (model_.has_guard) {
    if (!wants_.from_start) {
      wants_.reasons.push_back(
          "reads " + model_.text_of(path) +
          ", which iterations hand on and no flor::checkpointing holds: replay runs from the start");
    }
    wants_.from_start = true;
    if (input.held) input.why = "handed on from iteration to iteration: replay runs from the start";
  }
  for (const Definition* one : flow_.definitions_of(path)) {
    if (!flow_.in_main_loop(one->statement)) continue;
    const std::set<int>& blocks = flow_.blocks_running(one->statement);
    bool restored = !blocks.empty();
    for (const int block : blocks) {
      if (flow_.declared_in(block, path.symbol) || block_holds(flow_, block, path)) continue;
      wants_.lead_in.insert(block);
      restored = false;
    }
    if (one->cause == Cause::kSwitch && always_runs(one->statement, kMaxCallers)) continue;
    if (!restored) carrying_.insert({one, path});
  }
}

}  // namespace flor::probes
