// What runs of other users, which the user did not name, may take of a table of several runs: of its columns,
// and of memory.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "commands/log/run_choice.h"
#include "results/results.h"

namespace flor::commands {

class ForeignShare {
 public:
  results::ForeignRows& rows() { return rows_; }

  // Call for each such run, with the arguments that would take a column. Throws core::Error where the run
  // would bring more names than one may, and results::ForeignRows::UsedUp where all together, or the runs of
  // one user, would bring more names than they may, or keep more rows in memory.
  void take(const ChosenRun& run, const std::set<std::string>& arguments);
  // Call where a run is left out for UsedUp.
  void leave_out() { ++left_out_; }
  // Prints one line where runs were left out for that.
  void tell() const;

 private:
  struct Taken {
    std::set<std::string> loops, names;
    std::size_t bytes = 0;
  };

  results::ForeignRows rows_;
  Taken all_;
  std::map<uid_t, Taken> of_;
  std::size_t left_out_ = 0;
};

}  // namespace flor::commands
