#include "probes/rules/edit_classifier.h"

#include <algorithm>

#include "probes/cxx/blocks.h"
#include "probes/cxx/declarators.h"
#include "probes/cxx/library.h"
#include "probes/program/vocabulary.h"

namespace flor::probes {
namespace {

bool at_namespace_scope(const Tree& tree, int node) {
  const NodeKind around = tree.node(tree.node(node).parent).kind;
  return around == NodeKind::kRoot || around == NodeKind::kNamespace;
}

bool in_class(const Tree& tree, int node) {
  return tree.node(tree.node(node).parent).kind == NodeKind::kClass;
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

Range range_of(int source, const Node& node, const Edit& edit) {
  return edit.end == 0 ? Range{source, node.begin, node.end} : Range{source, edit.begin, edit.end};
}

std::string block_literal(const Tree& tree, const Node& node) {
  std::string name;
  for (size_t i = node.begin; i + 3 < node.head_end && name.empty(); ++i) {
    if (tree.is(i, "SkipBlock")) plain_string(tree.tokens[i + 3], &name);
  }
  return block_name(name);
}

bool has_block(const Program& program, const std::string& name) {
  return std::any_of(program.sources.begin(), program.sources.end(), [&](const Source& source) {
    return std::any_of(source.tree.nodes.begin(), source.tree.nodes.end(),
                       [&](const Node& node) { return node.block == name; });
  });
}

}  // namespace

EditClassifier::EditClassifier(const Program& recorded, const Program& present,
                               const std::vector<FileEdits>& files, AnalysisBuilder* analysis)
    : recorded_(recorded), present_(present), files_(files), analysis_(*analysis) {
  for (const FileEdits& file : files_) list_edits(file);
}

void EditClassifier::list_edits(const FileEdits& file) {
  for (const Edit& edit : file.edits) {
    if (edit.kind == EditKind::kAdded) {
      const Node& node = present_.sources[static_cast<size_t>(file.present)].tree.node(edit.present);
      if (edit.end == 0) added_nodes_[file.present].insert(edit.present);
      added_.push_back(range_of(file.present, node, edit));
    }
    if (edit.kind != EditKind::kRemoved) continue;
    const Source& source = recorded_.sources[static_cast<size_t>(file.recorded)];
    const Node& node = source.tree.node(edit.recorded);
    if (edit.end == 0) removed_nodes_[file.recorded].insert(edit.recorded);
    removed_.push_back(range_of(file.recorded, node, edit));
    if (edit.end != 0) continue;
    const std::vector<LogCall> logs = log_calls(source.tree, node.begin, node.end, source.unqualified_log);
    if (is_log_statement(node, logs)) continue;
    for (const LogCall& log : logs) removed_logs_.insert(text_of(source.tree, log));
  }
}

std::string EditClassifier::where(const FileEdits& file, int line) const {
  const Source& source = file.present >= 0 ? present_.sources[static_cast<size_t>(file.present)]
                                           : recorded_.sources[static_cast<size_t>(file.recorded)];
  return source.name + ":" + std::to_string(line);
}

std::vector<EditClassifier::Probe> EditClassifier::run(const Flow& present, const Flow* recorded) {
  const OwnCode own(present, added_, false);
  own_ = &own;
  std::optional<OwnCode> own_recorded;
  if (recorded != nullptr) own_recorded.emplace(*recorded, removed_, true);
  own_recorded_ = own_recorded ? &*own_recorded : nullptr;
  for (const FileEdits& file : files_) {
    for (const Edit& edit : file.edits) {
      switch (edit.kind) {
        case EditKind::kAdded:
          added(file, edit);
          break;
        case EditKind::kRemoved:
          removed(file, edit);
          break;
        case EditKind::kRenamed:
          renamed(file, edit);
          break;
        case EditKind::kTooMany:
          analysis_.everything(where(file, edit.line), "too many changes to compare");
          break;
      }
    }
  }
  return std::move(probes_);
}

void EditClassifier::added(const FileEdits& file, const Edit& edit) {
  const Source& source = present_.sources[static_cast<size_t>(file.present)];
  const Node& node = source.tree.node(edit.present);
  const Range range = range_of(file.present, node, edit);
  std::vector<LogCall> logs = log_calls(source.tree, range.begin, range.end, source.unqualified_log);
  std::string why = edit.end == 0 ? objection(file, edit.present) : own_->objection(range);
  if (edit.end != 0 && !why.empty())
    why = "code added, which " + why + ": " + changed(source.tree, edit.present);
  // Code that was moved or changed as a whole may hold logs that are not new.
  if (!why.empty() && !is_log_statement(node, logs)) logs = without_removed(source, std::move(logs));
  for (const LogCall& log : logs) probes_.push_back({file.present, log.at, log.name});
  if (!why.empty()) analysis_.everything(where(file, edit.line), why);
}

// Returns why an added node may change what the recorded program does. "": it does not.
std::string EditClassifier::objection(const FileEdits& file, int index) {
  const Source& source = present_.sources[static_cast<size_t>(file.present)];
  const Tree& tree = source.tree;
  const Node& node = tree.node(index);
  const std::string what =
      log_calls(tree, node.begin, node.end, source.unqualified_log).empty() ? "code" : "log";
  if (node.kind == NodeKind::kDirective || at_namespace_scope(tree, index))
    return objection_to_declaration(source, index, recorded_);
  if (in_class(tree, index)) return objection_to_member(source, index);
  for (int up = node.parent; up > 0; up = tree.node(up).parent) {
    if (tree.node(up).kind == NodeKind::kMacro) return what + " added or changed behind a macro";
  }
  if (separates_else(tree, index, added_nodes_[file.present])) return what + " added to an if with an else";
  const std::string why = own_->objection({file.present, node.begin, node.end});
  if (why.empty()) return "";
  return what + " added, which " + why + ": " + changed(tree, index);
}

// In a namespace: a name that the other program does not have affects nothing.
std::string EditClassifier::objection_to_declaration(const Source& source, int index,
                                                     const Program& other) const {
  const Tree& tree = source.tree;
  const Node& node = tree.node(index);
  const bool added = &other == &recorded_;
  const std::string edited = added ? "added" : "removed";
  const auto is_new = [&](const std::string& name) { return !name.empty() && other.words.count(name) == 0; };
  const auto is_class = [](size_t i, const Tree& at) {
    return std::any_of(at.nodes.begin(), at.nodes.end(), [&](const Node& one) {
      return one.kind == NodeKind::kClass && class_name(at, one) == at.text(i);
    });
  };
  if (node.kind == NodeKind::kDirective) {
    const std::string& text = tree.text(node.begin);
    const bool include = begins_with(text, "#include <") || (added && begins_with(text, "#include \""));
    const bool harmless = (include && added) || begins_with(text, "#pragma once");
    if (harmless && node.parent == 0) return "";
    return "preprocessor line " + edited + " or changed";
  }
  switch (node.kind) {
    case NodeKind::kFunction: {
      const FunctionHead head = function_head(tree, node);
      if (!head.implicit && is_new(head.name) && !begins_with(head.name, "flor") && head.name != "main")
        return "";
      // An operator of a new class.
      for (size_t i = head.open; i < node.head_end; ++i) {
        if (tree.word(i) && is_new(tree.text(i)) && is_class(i, tree)) return "";
      }
      return "function " + head.name + " " + edited + " or changed";
    }
    case NodeKind::kClass:
      return is_new(class_name(tree, node))
                 ? ""
                 : "class " + class_name(tree, node) + " " + edited + " or changed";
    case NodeKind::kNamespace: {
      for (const int child : node.children) {
        std::string why = objection_to_declaration(source, child, other);
        if (!why.empty()) return why;
      }
      return "";
    }
    case NodeKind::kLeaf:
      break;
    default:
      return "code " + edited + " or changed outside of functions";
  }
  const bool names_flor = tree.is(node.begin + 1, "namespace") && tree.is(node.begin + 2, "flor");
  if (tree.is(node.begin, "using") || tree.is(node.begin, "namespace") || tree.is(node.begin, "typedef")) {
    const bool directive = tree.is(node.begin + 1, "namespace");
    size_t last = node.begin + 1;  // the name: in front of `=`, or the last word
    while (last < node.end && !tree.is(last, "=")) ++last;
    while (last > node.begin && !tree.word(last)) --last;
    if (directive ? !names_flor && added : is_new(tree.text(last))) return "";
    return "code " + edited + " or changed outside of functions";
  }
  if (tree.is(node.begin, "static_assert")) return "";
  if (tree.is(node.begin, "TORCH_MODULE") && tree.is(node.begin + 1, "(") &&
      is_new(tree.text(node.begin + 2)))
    return "";
  const Declarators declared = declarators(tree, node.begin, node.end);
  const bool fresh = !declared.list.empty() &&
                     std::all_of(declared.list.begin(), declared.list.end(),
                                 [&](const Declarator& one) { return is_new(tree.text(one.name)); });
  const OwnCode* own = added ? own_ : own_recorded_;
  const int position = static_cast<int>(&source - (added ? present_ : recorded_).sources.data());
  if (fresh && own != nullptr && own->objection({position, node.begin, node.end}).empty()) return "";
  return "code " + edited + " or changed outside of functions";
}

// In a class that was recorded: a method of a new name, which only new code can call.
std::string EditClassifier::objection_to_member(const Source& source, int index) const {
  const Node& node = source.tree.node(index);
  if (node.kind == NodeKind::kFunction) {
    const FunctionHead head = function_head(source.tree, node);
    if (!head.implicit && recorded_.words.count(head.name) == 0) return "";
  }
  if (node.kind == NodeKind::kLeaf && source.tree.is(node.end - 1, ";")) {  // its declaration alone
    for (size_t i = node.begin + 1; i < node.end; i = source.tree.skip(i)) {
      if (!source.tree.is(i, "(")) continue;
      const std::string& name = source.tree.text(i - 1);
      const bool implicit = source.tree.is(node.begin, "virtual") || source.tree.is(i - 2, "~") ||
                            source.tree.is(i - 2, "operator");
      if (source.tree.word(i - 1) && !implicit && i > node.begin + 1 && recorded_.words.count(name) == 0)
        return "";
      break;
    }
  }
  return "member of a class added or changed";
}

// Returns whether the edit separates an `if` from its `else`, or gives one an else.
bool EditClassifier::separates_else(const Tree& tree, int node, const std::set<int>& edited) const {
  const auto begins_else = [&](int index) { return tree.is(tree.node(index).begin, "else"); };
  const int next = tree.next_sibling(node);
  if (next >= 0 && begins_else(next) && edited.count(next) == 0) return true;
  return begins_else(node) && edited.count(tree.previous_sibling(node)) == 0;
}

std::string EditClassifier::changed(const Tree& tree, int node) const {
  const int block = block_around(tree, node);
  return block < 0 ? "code changed outside blocks" : "code changed inside block " + tree.node(block).block;
}

std::vector<LogCall> EditClassifier::without_removed(const Source& source, std::vector<LogCall> logs) {
  const auto removed = [&](const LogCall& log) {
    const auto same = removed_logs_.find(text_of(source.tree, log));
    if (same == removed_logs_.end()) return false;
    removed_logs_.erase(same);
    return true;
  };
  logs.erase(std::remove_if(logs.begin(), logs.end(), removed), logs.end());
  return logs;
}

void EditClassifier::removed(const FileEdits& file, const Edit& edit) {
  const Source& source = recorded_.sources[static_cast<size_t>(file.recorded)];
  const Tree& tree = source.tree;
  const Node& node = tree.node(edit.recorded);
  const std::string at = where(file, edit.line);
  const Range range = range_of(file.recorded, node, edit);
  std::string why;
  if (edit.end != 0) {
    why = own_recorded_->objection(range).empty() ? "" : changed(tree, edit.recorded);
  } else if (node.kind == NodeKind::kDirective || at_namespace_scope(tree, edit.recorded)) {
    why = objection_to_declaration(source, edit.recorded, present_);
  } else if (in_class(tree, edit.recorded)) {
    why = "member of a class removed or changed";
  } else if (separates_else(tree, edit.recorded, removed_nodes_[file.recorded]) || own_recorded_ == nullptr ||
             !own_recorded_->objection(range).empty()) {
    why = changed(tree, edit.recorded);
  }
  if (!why.empty()) return analysis_.everything(at, why);
  for (const LogCall& log : log_calls(tree, range.begin, range.end, source.unqualified_log)) {
    analysis_.say(at, "log " + (log.name.empty() ? "" : "\"" + log.name + "\" ") +
                          "was removed here: its rows will be missing");
  }
}

void EditClassifier::renamed(const FileEdits& file, const Edit& edit) {
  const Tree& recorded = recorded_.sources[static_cast<size_t>(file.recorded)].tree;
  const Tree& present = present_.sources[static_cast<size_t>(file.present)].tree;
  const std::string before = block_literal(recorded, recorded.node(edit.recorded));
  const std::string after = block_literal(present, present.node(edit.present));
  const std::string at = where(file, edit.line);
  // Otherwise one block's checkpoint would be taken for another's.
  if (has_block(recorded_, after) || has_block(present_, before))
    return analysis_.everything(at, "block " + before + " is now called " + after + ", a name in use");
  analysis_.renamed(after, before);
  analysis_.execute(after);
  analysis_.say(at, "block " + before + " is now called " + after + ": it executes");
}

}  // namespace flor::probes
