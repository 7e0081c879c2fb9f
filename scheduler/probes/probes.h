// Finds the skip blocks that a replay must execute. Compares the recorded sources of a program with the
// present ones.
//
// Pure: texts in, result out; no disk, no LibTorch. It reads C++ without a compiler. So it knows a few
// harmless edits, and treats every other edit as one that may change state (docs/semantics.md, rules 17 and
// 18).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace flor::probes {

// A source file as it was (recorded) or as it is (present).
struct SourceFile {
  // Absolute.
  std::string path;
  std::string text;
  // The binary was not built from this text.
  bool newer_than_binary = false;
};

// A value that the row of a probe is computed from: what its arguments read, followed through data and
// control (docs/semantics.md, rule 18a).
struct Input {
  // As the program calls it: "meter", "meter.sum", "net".
  std::string name;
  // Whether a replay that skips blocks has its value.
  bool held = true;
  std::string
      why{};  // one line: "block train holds it", "block train changes it (train.cpp:31) and does not …"
  // Recorded names of the blocks that change it and do not hold it.
  std::set<std::string> changed_by{};
};

// A log statement that the recorded program did not have.
struct AddedLog {
  // "" if the name is no literal.
  std::string name;
  // Path of the present file.
  std::string file;
  // In the present file.
  int line = 0;
  // The innermost block around it. "": none.
  std::string block;
  std::vector<Input> inputs{};
  // Recorded names of the blocks whose changes it may see. They execute if its rows turn out wrong.
  std::set<std::string> depends{};
  // It reads a clock or the machine: no two executions give equal rows.
  bool is_volatile = false;
  // Not empty: it reads a clock or the machine across a skipped block, or lists files, so its rows are not
  // given (rule 18b).
  std::string withheld{};
};

struct ProbeAnalysis {
  // Every block executes.
  bool all = false;
  // Recorded names of the blocks that execute.
  std::set<std::string> blocks;
  // Those of them that must also execute before a unit in replays that run from the start: later code reads
  // what they change beside their arguments. (With `all`, every block must.) A block that executes only for a
  // log added inside it may be skipped there.
  std::set<std::string> lead_in;
  // No unit can be entered by restoring a checkpoint: some needed value is in none.
  bool from_start = false;
  // Why no unit can begin between two steps: no checkpoint there has some needed value. Empty: units can.
  std::vector<std::string> whole_iterations;
  // Present name → recorded name, of blocks with a new name.
  std::map<std::string, std::string> renamed;
  // The probes that were found.
  std::vector<AddedLog> logs;
  // The names that the log statements of the present sources have, old ones and new ones; "" where one is no
  // literal.
  std::set<std::string> names;
  std::vector<std::string>
      reasons;  // one line each: "train.cpp:34: log added inside block train: it executes"
};

// Finds what a replay of the present sources must execute in a run of the recorded ones. `unresolved_*`:
// quoted includes whose files were not found on that side.
// Never throws because of the texts: if one cannot be read, every block executes and a reason says so.
ProbeAnalysis analyse(const std::vector<SourceFile>& recorded, const std::vector<SourceFile>& present,
                      const std::vector<std::string>& unresolved_recorded,
                      const std::vector<std::string>& unresolved_present);

}  // namespace flor::probes
