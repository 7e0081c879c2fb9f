#include <optional>

#include "probes/cxx/log_calls.h"
#include "probes/probes.h"
#include "probes/program/file_pairs.h"
#include "probes/program/program.h"
#include "probes/rules/block_checks.h"
#include "probes/rules/edit_classifier.h"
#include "probes/rules/probe_rules.h"
#include "probes/rules/renames.h"

namespace flor::probes {
namespace {

// Checks for reasons that make comparing pointless.
void check_files(const std::vector<SourceFile>& files, const std::vector<std::string>& unresolved,
                 const char* side, AnalysisBuilder* analysis) {
  for (const SourceFile& file : files) {
    if (file.newer_than_binary) {
      const std::string remedy = std::string(side) == "present" ? " (build the program again)" : "";
      analysis->everything(base_name(file.path), side + (" source newer than the binary" + remedy));
    }
  }
  for (const std::string& include : unresolved) {
    analysis->everything(base_name(include), std::string(side) + " include whose file was not found");
  }
}

// `unchanged`: the files that are the same on both sides, by index.
void check_program(const Program& program, const std::set<size_t>& unchanged, const char* side,
                   AnalysisBuilder* analysis) {
  for (size_t i = 0; i < program.sources.size(); ++i) {
    const Source& source = program.sources[i];
    const Tree& tree = source.tree;
    if (tree.error.empty() && tree.unclear_line == 0) continue;
    if (unchanged.count(i) != 0 && irrelevant(source)) continue;
    const auto where = [&](int line) { return source.name + ":" + std::to_string(line); };
    if (!tree.error.empty()) {
      analysis->everything(where(tree.error_line), std::string(side) + " source: " + tree.error);
    }
    if (tree.unclear_line != 0) {
      analysis->everything(where(tree.unclear_line),
                           std::string(side) + " source: a skip block in a form that cannot be read");
    }
  }
}

void check_blocks(const Program& program, AnalysisBuilder* analysis) {
  for (const Source& source : program.sources) {
    for (const Unskippable& block : unskippable(source.tree)) {
      analysis->execute_in_lead_in(block.block);
      analysis->say(source.name + ":" + std::to_string(block.line),
                    "block " + block.block + " " + block.why + ": it executes");
    }
  }
}

// Treats a file that the record does not have as one addition.
FileEdits whole_file(const Program& program, size_t present) {
  FileEdits out{-1, static_cast<int>(present), {}};
  const Tree& tree = program.sources[present].tree;
  for (const int child : tree.node(0).children)
    out.edits.push_back({EditKind::kAdded, -1, child, tree.line(child), 0, 0});
  return out;
}

void add_macro_words(const Program& program, std::set<std::string>* words) {
  for (const Source& source : program.sources) {
    for (const Token& token : source.tree.tokens) {
      if (token.kind != TokenKind::kDirective) continue;
      for (const Token& inner : directive_tokens(token, source.tree.texts)) words->insert(inner.text);
    }
  }
}

std::vector<FileEdits> edits_of(Program* before, const Program& after, const FilePairs& pairs,
                                AnalysisBuilder* analysis) {
  std::vector<FileEdits> out;
  std::set<std::string> in_macros;
  add_macro_words(*before, &in_macros);
  add_macro_words(after, &in_macros);
  for (const auto& [recorded, present] : pairs.pairs) {
    Source& a = before->sources[recorded];
    const Source& b = after.sources[present];
    if (a.library || b.library) {
      if (a.file->text != b.file->text) analysis->everything(b.name, "another version of the library");
      continue;
    }
    if (!a.tree.error.empty() || !b.tree.error.empty() || a.file->text == b.file->text) continue;
    FileEdits one{static_cast<int>(recorded), static_cast<int>(present), diff(a.tree, b.tree)};
    if (apply_renames(&a.tree, b.tree, one.edits, in_macros)) one.edits = diff(a.tree, b.tree);
    one.edits = within_statements(a.tree, b.tree, std::move(one.edits));
    if (!one.edits.empty()) out.push_back(std::move(one));
  }
  for (const size_t present : pairs.fresh) {
    const Source& source = after.sources[present];
    if (!source.header || source.library || !source.tree.error.empty()) {
      analysis->everything(source.name, "not among the recorded sources");
    } else {
      out.push_back(whole_file(after, present));
    }
  }
  return out;
}

// Notes the names of log statements. A program may log through a function of its own, called `log` as well:
// then a literal is a name, too.
void name_logs(const Program& program, AnalysisBuilder* analysis) {
  for (const auto& source : program.sources) {
    if (source.library) continue;
    const Tree& tree = source.tree;
    for (const auto& log : log_calls(tree, 0, tree.tokens.size(), source.unqualified_log))
      analysis->name(log.name);
    for (const auto& log : log_calls(tree, 0, tree.tokens.size(), true))
      if (!log.name.empty()) analysis->name(log.name);
  }
}

}  // namespace

ProbeAnalysis analyse(const std::vector<SourceFile>& recorded, const std::vector<SourceFile>& present,
                      const std::vector<std::string>& unresolved_recorded,
                      const std::vector<std::string>& unresolved_present) {
  AnalysisBuilder analysis;
  if (recorded.empty()) analysis.everything("the run", "no source was recorded");
  check_files(recorded, unresolved_recorded, "recorded", &analysis);
  check_files(present, unresolved_present, "present", &analysis);

  const FilePairs pairs = pair_files(recorded, present);
  for (const size_t i : pairs.ambiguous) {
    analysis.everything(base_name(recorded[i].path), "several files of today may be this one");
  }
  for (const size_t i : pairs.missing) analysis.everything(base_name(recorded[i].path), "not found today");

  const auto texts = std::make_shared<Texts>();
  const Program after = read_program(present, {}, texts);
  name_logs(after, &analysis);
  std::set<size_t> unchanged_before, unchanged_after;
  std::vector<const Source*> known(recorded.size(), nullptr);
  for (const auto& [a, b] : pairs.pairs) {
    if (recorded[a].text != present[b].text) continue;
    unchanged_before.insert(a);
    unchanged_after.insert(b);
    if (is_library(recorded[a]) == is_library(present[b])) known[a] = &after.sources[b];
  }
  Program before = read_program(recorded, known, texts);
  // What cannot be read cannot be compared; where nothing was edited there is nothing to compare.
  const bool edited = unchanged_before.size() != recorded.size() || unchanged_after.size() != present.size();
  if (edited) {
    check_program(before, unchanged_before, "recorded", &analysis);
    check_program(after, unchanged_after, "present", &analysis);
  }
  check_blocks(after, &analysis);
  check_blocks(before, &analysis);
  const std::vector<FileEdits> files = edits_of(&before, after, pairs, &analysis);
  if (files.empty()) return analysis.take();

  const Model model = build_model(after);
  const Flow flow(model);
  EditClassifier classifier(before, after, files, &analysis);
  std::optional<Model> recorded_model;
  std::optional<Flow> recorded_flow;
  if (!classifier.removed().empty()) {
    recorded_model.emplace(build_model(before));
    recorded_flow.emplace(*recorded_model);
  }
  const auto probes = classifier.run(flow, recorded_flow ? &*recorded_flow : nullptr);
  ProbeRules(after, flow, &analysis).run(probes);
  return analysis.take();
}

}  // namespace flor::probes
