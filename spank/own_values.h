// Remembers which variables of a task the plugin set, and for which job.
// Motivation: sbatch exports its whole environment. A job that is submitted from inside a recorded one would
// else inherit what was meant for that one alone: its name is taken by then, and its launch is over.
#pragma once

#include <string>
#include <vector>

#include "store.h"

namespace flor::spank {

// The variable that holds the text of OwnValues. Slurm lets this prefix through even with --export=NONE.
constexpr const char* kOwnValues = "SLURM_SPANK_FLOR_SET";

class OwnValues {
 public:
  struct Value {
    std::string name;
    std::string set;
    std::string before;  // "": it was not set
  };

  // Reads what text() wrote; anything else counts as no values of no job.
  static OwnValues from(const std::string& text);
  std::string text() const;

  const std::string& job() const { return job_; }
  void set_job(const std::string& job) { job_ = job; }

  // Notes that `name` gets `value`. Where the plugin itself set it before, what stood there before that is
  // kept.
  void note(const std::string& name, const std::string& present, const std::string& value);

  // Returns the variables that still have the plugin's value, each with what it was before. What the user's
  // script has changed since is the user's.
  std::vector<Value> unchanged(const Environment& environment) const;

 private:
  std::string job_;
  std::vector<Value> values_;
};

}  // namespace flor::spank
