#include "scheduler/probes/block_checks.h"
#include "scheduler/probes/file_pairs.h"
#include "scheduler/probes/judge.h"
#include "scheduler/probes/probes.h"
#include "scheduler/probes/program.h"

namespace flor::probes {
namespace {

// What makes comparing pointless before it begins.
void check_files(const std::vector<SourceFile>& files, const std::vector<std::string>& unresolved,
                 const char* side, Answer* answer) {
  for (const SourceFile& file : files) {
    if (file.newer_than_binary) {
      answer->everything(base_name(file.path), std::string(side) + " source newer than the binary");
    }
  }
  for (const std::string& include : unresolved) {
    answer->everything(base_name(include), std::string(side) + " include whose file was not found");
  }
}

// `unchanged`: the files that are the same on both sides, by index.
void check_program(const Program& program, const std::set<size_t>& unchanged, const char* side,
                   Answer* answer) {
  for (size_t i = 0; i < program.sources.size(); ++i) {
    const Source& source = program.sources[i];
    if (unchanged.count(i) != 0 && irrelevant(source)) continue;
    const auto where = [&](int line) { return source.name + ":" + std::to_string(line); };
    const Tree& tree = source.tree;
    if (!tree.error.empty()) {
      answer->everything(where(tree.error_line), std::string(side) + " source: " + tree.error);
    }
    if (tree.unclear_line != 0) {
      answer->everything(where(tree.unclear_line),
                         std::string(side) + " source: a skip block in a form that cannot be read");
    }
  }
}

void check_blocks(const Program& program, Answer* answer) {
  for (const Source& source : program.sources) {
    for (const Unskippable& block : unskippable(source.tree)) {
      answer->execute_in_lead_in(block.block);
      answer->say(source.name + ":" + std::to_string(block.line),
                  "block " + block.block + " " + block.why + ": it executes");
    }
  }
}

void compare(const Program& before, const Program& after, const FilePairs& pairs, Answer* answer) {
  for (const auto& [recorded, present] : pairs.pairs) {
    const Source& a = before.sources[recorded];
    const Source& b = after.sources[present];
    if (a.library || b.library) {
      if (a.file->text != b.file->text) answer->everything(b.name, "another version of the library");
      continue;
    }
    if (a.tree.error.empty() && b.tree.error.empty()) Judge(before, after, a, b, answer).run();
  }
}

}  // namespace

Decision analyse(const std::vector<SourceFile>& recorded, const std::vector<SourceFile>& present,
                 const std::vector<std::string>& unresolved_recorded,
                 const std::vector<std::string>& unresolved_present) {
  Answer answer;
  if (recorded.empty()) answer.everything("the run", "no source was recorded");
  check_files(recorded, unresolved_recorded, "recorded", &answer);
  check_files(present, unresolved_present, "present", &answer);

  const FilePairs pairs = pair_files(recorded, present);
  for (const size_t i : pairs.ambiguous) {
    answer.everything(base_name(recorded[i].path), "several files of today may be this one");
  }
  for (const size_t i : pairs.missing) answer.everything(base_name(recorded[i].path), "not found today");
  for (const size_t i : pairs.fresh)
    answer.everything(base_name(present[i].path), "not among the recorded sources");

  const Program before = read_program(recorded);
  const Program after = read_program(present);
  std::set<size_t> unchanged_before, unchanged_after;
  for (const auto& [a, b] : pairs.pairs) {
    if (recorded[a].text != present[b].text) continue;
    unchanged_before.insert(a);
    unchanged_after.insert(b);
  }
  // What cannot be read cannot be compared; where nothing was edited there is nothing to compare.
  const bool edited = unchanged_before.size() != recorded.size() || unchanged_after.size() != present.size();
  if (edited) {
    check_program(before, unchanged_before, "recorded", &answer);
    check_program(after, unchanged_after, "present", &answer);
  }
  check_blocks(after, &answer);
  check_blocks(before, &answer);
  compare(before, after, pairs, &answer);
  return answer.take();
}

}  // namespace flor::probes
