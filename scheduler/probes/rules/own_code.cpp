#include "probes/rules/own_code.h"

#include <algorithm>

namespace flor::probes {
namespace {

constexpr int kMaxCalls = 6;  // within calls that are looked into

}  // namespace

OwnCode::OwnCode(const Flow& flow, const std::vector<Range>& ranges, bool recorded)
    : flow_(flow), model_(flow.model()), ranges_(ranges), recorded_(recorded) {
  for (size_t f = 1; f < model_.functions.size(); ++f) {
    const Function& function = model_.functions[f];
    if (in_own_code(function.source, function.begin)) own_functions_.insert(static_cast<int>(f));
  }
  for (size_t i = 0; i < model_.symbols.size(); ++i) {
    const Symbol& symbol = model_.symbols[i];
    if (symbol.function >= 0 && in_own_code(symbol.source, symbol.token)) own_.insert(static_cast<int>(i));
  }
  std::vector<int> elsewhere(model_.symbols.size(), 0);
  for (const Statement& statement : model_.statements) {
    const bool own = in_own_code(statement.source, statement.begin);
    for (const int symbol : statement.declares) {
      // A new global or static: its name must be new.
      if (own && model_.symbol(symbol).function < 0) own_.insert(symbol);
    }
    if (own) continue;
    for (const AccessPath& path : statement.reads) elsewhere[static_cast<size_t>(path.symbol)] = 1;
    for (const Change& change : statement.changes) elsewhere[static_cast<size_t>(change.path.symbol)] = 1;
  }
  for (const int symbol : own_) {
    if (elsewhere[static_cast<size_t>(symbol)] != 0) captured_.insert(symbol);
  }
}

bool OwnCode::contains(const Range& range, int source, size_t token) const {
  return range.source == source && range.begin <= token && token < range.end;
}

bool OwnCode::in_own_code(int source, size_t token) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const Range& range) { return contains(range, source, token); });
}

std::string OwnCode::objection(const Range& range) const {
  const Tree& tree = model_.program->sources[static_cast<size_t>(range.source)].tree;
  for (size_t i = range.begin; i < range.end; ++i) {
    for (const char* word : {"checkpointing", "SkipBlock", "step_into", "loop", "arg"}) {
      const bool ours =
          tree.is(i, word) && (tree.is(i - 1, "::") || tree.is(i, "SkipBlock") || tree.is(i, "step_into"));
      if (ours) return std::string("uses flor's ") + word;
    }
  }
  for (size_t s = 0; s < model_.statements.size(); ++s) {
    const Statement& statement = model_.statements[s];
    if (!contains(range, statement.source, statement.begin)) continue;
    std::string why = objection(static_cast<int>(s), range);
    if (!why.empty()) return why;
  }
  return "";
}

std::string OwnCode::objection(int index, const Range& range) const {
  const Statement& statement = model_.statement(index);
  if (leaves(index, range)) return "leaves the code around it";
  for (const int symbol : statement.declares) {
    if (captured_.count(symbol) != 0) return "hides another " + model_.symbol(symbol).name;
    const Symbol& declared = model_.symbol(symbol);
    // A guard changes what stands behind it, up to the end of its braces.
    const bool mode = declared.type.find("NoGradGuard") != std::string::npos ||
                      declared.type.find("InferenceMode") != std::string::npos;
    if (declared.guarded && !(mode && is_enclosed(statement, range)))
      return "makes a " + declared.type + ", which is not known";
  }
  for (const Definition& change : flow_.changes_of(index)) {
    std::string why = objection(change, index);
    if (!why.empty()) return why;
  }
  const std::string why = objection_to_training(index);
  return why.empty() ? objection_to_calls(index) : why;
}

std::string OwnCode::objection(const Definition& change, int index) const {
  const Statement& statement = model_.statement(index);
  const Function& function = model_.function(statement.function);
  const bool by_call = change.parameter >= 0 || change.member >= 0 ||
                       (statement.function != 0 && in_own_code(function.source, function.begin));
  const bool tolerant = !recorded_ || statement.logs;
  if (tolerant && change.cause == Cause::kSwitch && is_switched_anew(change.path.symbol, statement))
    return "";
  // What a probe's own forward pass leaves in a module, record's digests would show.
  if (tolerant && (change.cause == Cause::kMode || (change.cause == Cause::kSwitch && by_call))) return "";
  if (change.cause == Cause::kGuess && statement.logs) return "";
  const auto is_state = [&](int field) { return model_.registered.count(field) != 0; };
  if (by_call && std::any_of(change.path.fields.begin(), change.path.fields.end(), is_state)) return "";
  const bool own = is_own(change.path.symbol);
  if (own && !change.deep) return "";
  const auto& sharing = flow_.led_to(change.path.symbol);
  const bool all_own = own && std::all_of(sharing.begin(), sharing.end(), [&](int other) {
                         return is_own(other) || model_.symbol(other).plain;
                       });
  if (all_own) return "";
  return "may change " + model_.text_of(change.path);
}

// Does the change set a module to train? `depth`: of calls to look into.
bool OwnCode::trains(const Definition& change, int depth) const {
  if (change.cause != Cause::kSwitch || depth == 0) return change.cause == Cause::kSwitch;
  const Statement& statement = model_.statement(change.statement);
  if (change.parameter < 0 && change.member < 0) {
    const Tree& tree = model_.program->sources[static_cast<size_t>(statement.source)].tree;
    for (size_t i = statement.begin; i + 2 < statement.end; ++i) {
      if (tree.is(i, "train") && tree.is(i + 1, "(") && !tree.is(i + 2, "false")) return true;
    }
    return false;
  }
  return std::any_of(statement.calls.begin(), statement.calls.end(), [&](const Call& call) {
    return std::any_of(call.callees.begin(), call.callees.end(), [&](int callee) {
      const auto& all = flow_.summary_of(callee);
      return std::any_of(all.begin(), all.end(),
                         [&](const Definition& one) { return trains(one, depth - 1); });
    });
  });
}

// A module that is set to train counts what it computes: buffers that are recorded would change.
std::string OwnCode::objection_to_training(int index) const {
  const Statement& statement = model_.statement(index);
  for (const Definition& change : flow_.changes_of(index)) {
    if (!trains(change, kMaxCalls)) continue;
    for (const int next : model_.function(statement.function).statements) {
      const Statement& later = model_.statement(next);
      if (later.begin < statement.begin || !in_own_code(later.source, later.begin)) continue;
      bool switched = false;
      for (const Definition& one : flow_.changes_of(next)) {
        if (one.path.symbol != change.path.symbol) continue;
        if (one.cause == Cause::kMode)
          return "runs " + model_.symbol(one.path.symbol).name + " while it trains";
        switched = switched || (next != index && one.cause == Cause::kSwitch);
      }
      if (switched) break;
    }
  }
  return "";
}

// Returns whether gradient modes do not matter to the statement.
bool OwnCode::is_without_tensors(const Statement& statement) const {
  const auto plain = [&](const AccessPath& path) {
    const Symbol& symbol = model_.symbol(path.symbol);
    return path.fields.empty() && (symbol.plain || symbol.constant || symbol.loop_value);
  };
  return statement.calls.empty() && !statement.unknown && !statement.creates &&
         std::all_of(statement.reads.begin(), statement.reads.end(), plain) &&
         std::all_of(statement.changes.begin(), statement.changes.end(),
                     [&](const Change& change) { return plain(change.path); });
}

// Up to the end of the braces around the statement: does own code alone run, and what computes no tensors?
bool OwnCode::is_enclosed(const Statement& statement, const Range& range) const {
  if (statement.begin != range.begin) return true;
  const Tree& tree = model_.program->sources[static_cast<size_t>(range.source)].tree;
  size_t close = range.end;
  while (close < tree.tokens.size() && !tree.is(close, "}")) close = tree.skip(close);
  for (const int next : model_.function(statement.function).statements) {
    const Statement& one = model_.statement(next);
    if (one.source != range.source || one.begin < range.end || one.begin >= close) continue;
    if (!in_own_code(one.source, one.begin) && !one.logs && !is_without_tensors(one)) return false;
  }
  return true;
}

// Does every block that trains or asks the module set its mode by itself first?
bool OwnCode::is_switched_anew(int module, const Statement& from) const {
  for (const int next : model_.function(from.function).statements) {
    const Statement& statement = model_.statement(next);
    if (statement.begin <= from.begin || in_own_code(statement.source, statement.begin) ||
        !flow_.blocks_around(next).empty())
      continue;
    const auto& changes = flow_.changes_of(next);
    const auto names = [&](const auto& one) { return one.path.symbol == module; };
    const bool reads = std::any_of(statement.reads.begin(), statement.reads.end(),
                                   [&](const AccessPath& path) { return path.symbol == module; });
    if (!reads && std::none_of(changes.begin(), changes.end(), names)) continue;
    if (std::none_of(changes.begin(), changes.end(),
                     [&](const Definition& one) { return names(one) && one.cause == Cause::kSwitch; })) {
      return false;
    }
    break;
  }
  for (size_t b = 0; b < model_.blocks.size(); ++b) {
    int first = -1;
    bool switches = false;
    for (size_t s = 0; s < model_.statements.size(); ++s) {
      const int statement = static_cast<int>(s);
      if (flow_.blocks_around(statement).count(static_cast<int>(b)) == 0 || first >= 0) continue;
      for (const Definition& one : flow_.changes_of(statement)) {
        if (one.path.symbol != module) continue;
        first = statement;
        switches = switches || one.cause == Cause::kSwitch;
      }
    }
    if (first >= 0 && !switches) return false;
  }
  return true;
}

// Checks what the called functions change outside themselves.
std::string OwnCode::objection_to_calls(int index) const {
  const Statement& statement = model_.statement(index);
  for (const Call& call : statement.calls) {
    for (const int callee : flow_.callees_of(call)) {
      for (const Definition& change : flow_.summary_of(callee)) {
        const Symbol& symbol = model_.symbol(change.path.symbol);
        if (symbol.function == callee || is_own(change.path.symbol) || change.cause != Cause::kCertain)
          continue;
        // A method changes members of the object that it is called on: that change is the statement's.
        if (flow_.is_of_receiver(call, callee, change.path)) continue;
        return "calls what may change " + model_.text_of(change.path);
      }
    }
  }
  return "";
}

// Returns whether the statement leaves the code around the range.
bool OwnCode::leaves(int index, const Range& range) const {
  const Statement& statement = model_.statement(index);
  if (!statement.jumps) return false;
  const Function& function = model_.function(statement.function);
  if (contains(range, function.source, function.begin) && statement.function != 0) return false;
  const Tree& tree = model_.program->sources[static_cast<size_t>(statement.source)].tree;
  if (!tree.is(statement.begin, "break") && !tree.is(statement.begin, "continue")) return true;
  for (int up = statement.parent; up >= 0; up = model_.statement(up).parent) {
    const size_t begin = model_.statement(up).begin;
    if (!contains(range, statement.source, begin)) return true;
    if (tree.is(begin, "for") || tree.is(begin, "while") || tree.is(begin, "do") ||
        (tree.is(begin, "switch") && tree.is(statement.begin, "break"))) {
      return false;
    }
  }
  return true;
}

}  // namespace flor::probes
