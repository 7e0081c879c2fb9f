// Which skip blocks must a replay execute? Compares the recorded sources of a program with today's.
//
// Pure: texts in, result out; no disk, no LibTorch. It reads C++ without a compiler, so it knows a few
// harmless edits for certain and takes every other edit for one that may change state (docs/semantics.md,
// rules 17 and 18).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace flor::probes {

// A source file as it was (recorded) or as it is (present).
struct SourceFile {
  std::string path;  // absolute
  std::string text;
  bool newer_than_binary = false;  // then the text is not what the binary was built from
};

// Something that a probe's row is computed from: what its arguments read, closed over data and control
// (docs/semantics.md, rule 18a).
struct Input {
  std::string name;  // as the program calls it: "meter", "meter.sum", "net"
  bool held = true;  // does a replay that skips blocks have its value?
  std::string
      why{};  // one line: "block train holds it", "block train changes it (train.cpp:31) and does not …"
  std::set<std::string> changed_by{};  // blocks that change it and do not hold it, by their recorded names
};

// A log statement that the recorded program did not have.
struct AddedLog {
  std::string name;   // the literal name, "" where it is no literal
  std::string file;   // path of the present file
  int line = 0;       // in the present file
  std::string block;  // the innermost block around it, "" outside
  std::vector<Input> inputs{};
  // Blocks whose changes it may see: what executes if its rows turn out wrong. Recorded names.
  std::set<std::string> depends{};
  bool is_volatile = false;  // it reads a clock or the machine: no two executions give equal rows
  // Not empty: it reads them across a skipped block, so its row is not given (rule 18b).
  std::string withheld{};
};

struct ProbeAnalysis {
  bool all = false;              // execute every block
  std::set<std::string> blocks;  // blocks that execute, by their recorded names
  // Of these, the ones that must also execute in front of a unit, where replay runs from the start: what they
  // change beside their arguments is read. (With `all`, every block must.) Of a block that executes only
  // because a log was added in it, nothing is missing there when it is skipped.
  std::set<std::string> lead_in;
  bool from_start = false;  // some of it is in no checkpoint: no unit can be entered by restoring one
  // Why no unit can begin between two steps: it is in no checkpoint there. As `reasons`; empty: units can.
  std::vector<std::string> whole_iterations;
  std::map<std::string, std::string> renamed;  // blocks with a new name: that name → the recorded one
  std::vector<AddedLog> logs;                  // the probes found
  std::vector<std::string>
      reasons;  // one line each: "train.cpp:34: log added inside block train: it executes"
};

// What a replay of the present sources must execute of a run of the recorded ones.
// `unresolved_*` are the quoted includes whose files were not found on either side.
// Never throws for what the texts hold: whatever cannot be read makes every block execute, and a reason says
// so.
ProbeAnalysis analyse(const std::vector<SourceFile>& recorded, const std::vector<SourceFile>& present,
                      const std::vector<std::string>& unresolved_recorded,
                      const std::vector<std::string>& unresolved_present);

}  // namespace flor::probes
