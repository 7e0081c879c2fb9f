#include "scheduler/probes/judge.h"

#include <algorithm>

#include "scheduler/probes/blocks.h"
#include "scheduler/probes/file_pairs.h"
#include "scheduler/probes/gradients.h"
#include "scheduler/probes/names.h"
#include "scheduler/probes/places.h"
#include "scheduler/probes/step_checks.h"

namespace flor::probes {
namespace {

constexpr size_t kMaxReasons = 100;

bool at_namespace_scope(const Tree& tree, int node) {
  const NodeKind around = tree.node(tree.node(node).parent).kind;
  return around == NodeKind::kRoot || around == NodeKind::kNamespace;
}

// The names of the blocks around a node, itself included, outermost last.
std::vector<std::string> blocks_around(const Tree& tree, int node) {
  std::vector<std::string> names;
  for (int block = block_around(tree, node); block >= 0;
       block = block_around(tree, tree.node(block).parent)) {
    names.push_back(tree.node(block).block);
  }
  return names;
}

// The innermost loop around the outermost block around the node, or around the node where there is no block;
// −1: none.
int loop_of(const Tree& tree, int node) {
  for (int block = block_around(tree, node); block >= 0;
       block = block_around(tree, tree.node(block).parent)) {
    node = block;
  }
  do {
    node = tree.node(node).parent;
  } while (node >= 0 && tree.node(node).kind != NodeKind::kLoop);
  return node;
}

std::string text_of(const Tree& tree, const LogCall& log) {
  std::string text;
  for (size_t i = log.at; i <= tree.match[log.open]; ++i) text += tree.text(i) + " ";
  return text;
}

// `if (c) flor::log(…)` begins with an if, `flor::log(…)` with itself.
bool is_log_statement(const Node& node, const std::vector<LogCall>& logs) {
  return node.kind == NodeKind::kLeaf && logs.size() == 1 && logs[0].at == node.begin;
}

}  // namespace

void Answer::say(const std::string& where, const std::string& what) {
  const std::string reason = where + ": " + what;
  if (!said_.insert(reason).second || said_.size() > kMaxReasons) return;
  decision_.reasons.push_back(said_.size() < kMaxReasons ? reason : "… and more");
}

void Answer::everything(const std::string& where, const std::string& why) {
  decision_.all = true;
  say(where, why + ": every block executes");
}

void Answer::whole_iterations(const std::string& where, const std::string& why) {
  const std::string reason = where + ": " + why + ": units are whole iterations";
  if (said_.insert(reason).second && said_.size() < kMaxReasons) decision_.whole_iterations.push_back(reason);
}

Decision Answer::take() {
  for (std::set<std::string>* names : {&decision_.blocks, &decision_.lead_in}) {
    std::set<std::string> recorded;
    for (const auto& name : *names) {
      const auto at = decision_.renamed.find(name);
      recorded.insert(at == decision_.renamed.end() ? name : at->second);
    }
    *names = std::move(recorded);
  }
  return std::move(decision_);
}

Judge::Judge(const Program& recorded, const Program& present, const Source& before, const Source& after,
             Answer* answer)
    : recorded_(recorded), present_(present), before_(before), after_(after), answer_(*answer) {
  for (const int block : blocks_in(after.tree, 0)) unrestored_[block] = unrestored(after.tree, block);
  between_steps_ = unrestored_between_steps(after.tree);
  // With what is computed from them.
  if (!between_steps_.empty()) between_steps_ = names_leading_to({&after.tree}, between_steps_, false);
}

std::string Judge::where(int line) const {
  return after_.name + ":" + std::to_string(line);
}

void Judge::run() {
  const std::vector<Edit> edits = diff(before_.tree, after_.tree);
  for (const Edit& edit : edits) {
    if (edit.kind == EditKind::kAdded) added_.insert(edit.present);
    if (edit.kind != EditKind::kRemoved) continue;
    removed_.insert(edit.recorded);
    const Node& node = before_.tree.node(edit.recorded);
    const std::vector<LogCall> logs = log_calls(before_.tree, node.begin, node.end, before_.unqualified_log);
    if (is_log_statement(node, logs)) continue;
    for (const LogCall& log : logs) removed_logs_.insert(text_of(before_.tree, log));
  }
  for (const Edit& edit : edits) {
    switch (edit.kind) {
      case EditKind::kAdded:
        added(edit);
        break;
      case EditKind::kRemoved:
        removed(edit);
        break;
      case EditKind::kRenamed:
        renamed(edit);
        break;
      case EditKind::kTooMany:
        answer_.everything(where(edit.line), "too many changes to compare");
        break;
    }
  }
}

void Judge::added(const Edit& edit) {
  const Node& node = after_.tree.node(edit.present);
  const std::vector<LogCall> logs = log_calls(after_.tree, node.begin, node.end, after_.unqualified_log);
  const std::vector<LogCall> fresh = is_log_statement(node, logs) ? logs : without_removed(logs);
  const std::string why = objection(edit.present, fresh);
  report(edit.present, why.empty() ? logs : fresh);
  if (!why.empty()) return answer_.everything(where(edit.line), why);
  if (!at_namespace_scope(after_.tree, edit.present)) executes_around(edit.present, logs);
}

std::string Judge::objection(int index, const std::vector<LogCall>& logs) {
  const Tree& tree = after_.tree;
  const Node& node = tree.node(index);
  if (node.kind == NodeKind::kDirective) {
    const bool include = tree.text(node.begin).compare(0, 10, "#include <") == 0;
    return include && node.parent == 0 ? "" : "preprocessor line added or changed";
  }
  const std::string what = logs.empty() ? "code" : "log";
  HarmlessRules rules;
  rules.taken = &recorded_.free_words;
  rules.mutators = &present_.mutators;
  rules.unqualified_log = after_.unqualified_log;
  const Harmless harmless(tree, rules);
  if (at_namespace_scope(tree, index)) {
    if (recorded_.words.count(node.name) == 0 && harmless.function(index)) return "";
    if (logs.empty()) return "code added or changed outside of functions";
    return "log added in a function (" + node.name + ") whose callers are not clear";
  }
  if (after_.header) return what + " added or changed in a header";
  const std::string place = objection_to_place(index);
  if (!place.empty()) return what + " added or changed " + place;
  if (tears_else(tree, index, added_)) return what + " added to an if with an else";
  if (harmless.statement(index, &scopes_[loop_of(tree, index)])) return "";
  if (is_log_statement(node, logs)) return "log added whose arguments may change state";
  if (!logs.empty()) return "log added within other code";
  return changed(tree, index);
}

std::string Judge::objection_to_place(int node) const {
  const int function = function_around(after_.tree, node);
  if (function < 0) return "in a class";
  for (int up = after_.tree.node(node).parent; up != function; up = after_.tree.node(up).parent) {
    if (after_.tree.node(up).kind == NodeKind::kMacro) return "behind a macro";
  }
  if (present_.callers_clear(after_, function)) return "";
  return "in a function (" + after_.tree.node(function).name + ") whose callers are not clear";
}

// Does the edit part an `if` from its `else`, or give one an else?
bool Judge::tears_else(const Tree& tree, int node, const std::set<int>& edited) const {
  const auto begins_else = [&](int index) { return tree.is(tree.node(index).begin, "else"); };
  const int next = tree.next_sibling(node);
  if (next >= 0 && begins_else(next) && edited.count(next) == 0) return true;
  return begins_else(node) && edited.count(tree.previous_sibling(node)) == 0;
}

std::string Judge::changed(const Tree& tree, int node) const {
  const int block = block_around(tree, node);
  return block < 0 ? "code changed outside blocks" : "code changed inside block " + tree.node(block).block;
}

void Judge::execute_with_outer(int block) {
  for (const std::string& name : blocks_around(after_.tree, block)) answer_.execute(name);
}

void Judge::executes_around(int index, const std::vector<LogCall>& logs) {
  const int line = after_.tree.line(index);
  const bool gradients = reads_gradients(index, where(line));
  const bool stale = reads_unrestored(index, where(line));
  reads_between_steps(index, where(line));
  const std::vector<std::string> names = blocks_around(after_.tree, index);
  std::string what = "outside blocks: they stay skipped";
  if (names.empty() && (gradients || stale)) return;
  if (!names.empty()) {
    what = "inside block " + names[0] + ": it executes";
    for (size_t i = 1; i < names.size(); ++i) what += (i == 1 ? ", and so does " : ", ") + names[i];
    for (const std::string& name : names) answer_.execute(name);
  }
  for (const LogCall& log : logs) answer_.say(where(after_.tree.tokens[log.at].line), "log added " + what);
  if (logs.empty() && !names.empty()) answer_.say(where(line), "code added " + what);
}

// Gradients' values are not part of checkpoints (semantics, rule 3).
bool Judge::reads_gradients(int index, const std::string& where) {
  const Node& node = after_.tree.node(index);
  if (!mentions(after_.tree, node.begin, node.end, present_.gradients)) return false;
  const GradientSource source = gradients_read(after_.tree, index, present_.backward);
  if (source.earlier_step)
    answer_.whole_iterations(where, "reads gradients that the step before may have left");
  if (!source.clear) {
    answer_.from_start();
    answer_.everything(where, "reads gradients, and which block leaves them is not clear");
    return true;
  }
  for (const int block : source.blocks) {
    execute_with_outer(block);
    answer_.say(where,
                "reads gradients, which block " + after_.tree.node(block).block + " leaves: it executes");
  }
  return !source.blocks.empty();
}

// A replay that begins between two steps has what their checkpoints hold.
void Judge::reads_between_steps(int index, const std::string& where) {
  const Node& node = after_.tree.node(index);
  for (const std::string& name : between_steps_) {
    if (!mentions(after_.tree, node.begin, node.end, {name})) continue;
    answer_.whole_iterations(where,
                             "uses " + name + ", which steps change and no checkpoint between them holds");
  }
}

// A skipped block leaves variables stale that it changes but does not restore.
bool Judge::reads_unrestored(int index, const std::string& where) {
  const Tree& tree = after_.tree;
  const Node& node = tree.node(index);
  bool found = false;
  const int function = function_around(tree, index);
  const std::set<std::string> read = places_in(tree, node.begin, node.end);
  for (const auto& [block, stale] : unrestored_) {
    const Node& region = tree.node(block);
    if (function_around(tree, block) != function) continue;
    if (region.begin <= node.begin && node.end <= region.end) continue;
    std::vector<std::string> reads;
    for (const std::string& place : read) {
      const auto same = [&](const std::string& other) { return overlap(place, other); };
      if (std::any_of(stale.places.begin(), stale.places.end(), same))
        reads.push_back(source_text(place) + ", which");
    }
    for (const std::string& name : stale.names)
      if (mentions(tree, node.begin, node.end, {name})) reads.push_back(name + ", which depends on what");
    if (reads.empty()) continue;
    for (const std::string& around : blocks_around(tree, block)) answer_.execute_in_lead_in(around);
    answer_.from_start();
    for (const std::string& what : reads) {
      answer_.say(where,
                  "reads " + what + " block " + region.block + " changes and does not restore: it executes");
    }
    found = true;
  }
  return found;
}

int Judge::block_of(int node, size_t token) const {
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const int child : after_.tree.node(node).children) {
      const Node& inner = after_.tree.node(child);
      if (inner.begin > token || token >= inner.end) continue;
      node = child;
      deeper = true;
      break;
    }
  }
  return block_around(after_.tree, node);
}

// Code that was moved or changed as a whole may hold logs that are not new.
std::vector<LogCall> Judge::without_removed(std::vector<LogCall> logs) {
  const auto removed = [&](const LogCall& log) {
    const auto same = removed_logs_.find(text_of(after_.tree, log));
    if (same == removed_logs_.end()) return false;
    removed_logs_.erase(same);
    return true;
  };
  logs.erase(std::remove_if(logs.begin(), logs.end(), removed), logs.end());
  return logs;
}

void Judge::report(int node, const std::vector<LogCall>& logs) {
  for (const LogCall& log : logs) {
    const int block = block_of(node, log.at);
    const std::string name = block < 0 ? "" : after_.tree.node(block).block;
    answer_.log({log.name, after_.file->path, after_.tree.tokens[log.at].line, name});
  }
}

void Judge::removed(const Edit& edit) {
  const Tree& tree = before_.tree;
  const Node& node = tree.node(edit.recorded);
  HarmlessRules rules;
  rules.taken = &present_.free_words;
  rules.mutators = &recorded_.mutators;
  rules.unqualified_log = before_.unqualified_log;
  const Harmless harmless(tree, rules);
  const bool outer = at_namespace_scope(tree, edit.recorded);
  const bool fine =
      outer ? present_.words.count(node.name) == 0 && harmless.function(edit.recorded)
            : !tears_else(tree, edit.recorded, removed_) &&
                  harmless.statement(edit.recorded, &removed_scopes_[loop_of(tree, edit.recorded)]);
  if (!fine) {
    const bool directive = node.kind == NodeKind::kDirective;
    const std::string code =
        outer ? "code removed or changed outside of functions" : changed(tree, edit.recorded);
    return answer_.everything(where(edit.line), directive ? "preprocessor line removed or changed" : code);
  }
  for (const LogCall& log : log_calls(tree, node.begin, node.end, before_.unqualified_log)) {
    answer_.say(where(edit.line), "log " + (log.name.empty() ? "" : "\"" + log.name + "\" ") +
                                      "was removed here: its rows will be missing");
  }
}

void Judge::renamed(const Edit& edit) {
  const auto literal = [](const Tree& tree, const Node& node) {
    std::string name;
    for (size_t i = node.begin; i + 3 < node.head_end && name.empty(); ++i) {
      if (tree.is(i, "SkipBlock")) plain_string(tree.tokens[i + 3], &name);
    }
    return block_name(name);
  };
  const std::string before = literal(before_.tree, before_.tree.node(edit.recorded));
  const std::string after = literal(after_.tree, after_.tree.node(edit.present));
  const auto has_block = [](const Program& program, const std::string& name) {
    return std::any_of(program.sources.begin(), program.sources.end(), [&](const Source& source) {
      return std::any_of(source.tree.nodes.begin(), source.tree.nodes.end(),
                         [&](const Node& node) { return node.block == name; });
    });
  };
  // Otherwise one block's checkpoint would be taken for another's.
  if (has_block(recorded_, after) || has_block(present_, before)) {
    return answer_.everything(where(edit.line),
                              "block " + before + " is now called " + after + ", a name in use");
  }
  answer_.renamed(after, before);
  answer_.execute(after);
  answer_.say(where(edit.line), "block " + before + " is now called " + after + ": it executes");
}

}  // namespace flor::probes
