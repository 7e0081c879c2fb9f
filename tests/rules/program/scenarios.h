// The programs of the tests: each is one small training script in which every value depends on all before it
// and on the generator, so that any wrong restore shows in the rows. The command line chooses one and its
// edits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend.h"

// As flor/flor.h does: which sources the program was built from.
namespace {
// NOLINTNEXTLINE(misc-definitions-in-headers)
__attribute__((used, section("flor_sources"))) const char rules_translation_unit[] = __BASE_FILE__;
}  // namespace

namespace rules {

// --NAME and --NAME=VALUE of the command line.
bool flag(const std::string& name);
int64_t number(const std::string& name, int64_t otherwise);
std::string text(const std::string& name);

// Training in small: what a step leaves depends on all steps before, and on the generator.
struct Model {
  std::vector<double> weights = std::vector<double>(6, 0.5);
  std::vector<double> velocity = std::vector<double>(6, 0.0);
  // Never changes, and is large enough to be shared: --frozen=N numbers.
  std::vector<double> frozen = std::vector<double>(static_cast<std::size_t>(number("frozen", 512)), 0.25);
  double rate = 0.1;
  int64_t steps = 0;

  void step();
  double loss() const;
  double norm() const;
  Refs all() { return {weights, velocity, frozen, rate, steps}; }
  Refs trained() { return {weights, velocity, frozen, steps}; }  // what a block changes: `rate` it does not
};

// Appends "WHAT MODE" to --trace=FILE, MODE one of plain, recording, replaying.
void trace(const std::string& what);

// --hold=E --in=recording|replaying --until=FILE: in iteration E of that mode creates FILE.reached and waits
// for FILE, 60 seconds at most. FILE.reached holds the process id.
void hold(int64_t epoch);

// --crash=E --unless=FILE: a replay dies in iteration E, until FILE is there.
void crash(int64_t epoch);

// --meet=DIR: a replay waits in the first block that it executes until two workers are in one, 60 seconds at
// most. So both have units, however busy the machine is.
void meet();

// A child process that outlives what happens to this one, and holds on to no output; it ends when
// --until=FILE is there, after 60 seconds at most.
void leave_child();

void sleep_ms(int64_t milliseconds);

// The outer probe (--outer) and the inner one (--inner), which draw from the generator with --draw.
void outer_probe(const Model& model);
void inner_probe(const Model& model);

int train();      // the ordinary shape: main loop, one block, an evaluation
int observed();   // the same, with tensors whose rows are computed in the background
int forget();     // a variable that flor::checkpointing was not told of
int walk();       // a random walk outside of all blocks
int growing();    // a variable that is assigned anew and grows
int best();       // the same, which shows in some iterations only
int guards();     // several guards, one inside of the other
int container();  // the main loop over a container

int meters();  // variables that the block changes and does not hold, and probes of them: --meter, --running,
               // …

int places();   // conditional, nested and repeated blocks and loops of one name
int several();  // several outermost loops
int outside();  // blocks outside of all loops

int endings();   // the loop left by break, by what its block found, by exceptions, by exit()
int forks();     // a child process goes on with the loop
int helpers();   // a helper process in each epoch, which is terminated
int watchers();  // threads that log from the start on
int rows();      // values that JSON finds hard
int unlooped();  // a row, and no loop
int silent();    // never calls the library

}  // namespace rules
