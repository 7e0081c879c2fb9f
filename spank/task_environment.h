// The environment of a task that is about to start.
#pragma once

#include <cstdint>
#include <string>

#include "own_values.h"
#include "slurm_spank.h"

namespace flor::spank {

class TaskEnvironment {
 public:
  TaskEnvironment(spank_t spank, std::uint32_t job);

  // Returns a variable of the task's environment, not of slurmstepd's; "" if it is not set. Unlike
  // spank_getenv with its buffer, allows any length.
  std::string get(const char* name) const;
  // Sets a variable for this job alone: a job that is submitted from inside it does not inherit it.
  void set(const char* name, const std::string& value);
  void unset(const char* name);

  // Returns true if the plugin's values, and so Flor's flags, are those of the job that submitted this one.
  // sbatch drops them, but not where it runs on a machine without the plugin.
  bool is_of_another_job() const;
  // Gives every variable that the plugin set, and no one changed since, its former value.
  void put_all_back();
  // The same, for one variable.
  void put_back(const char* name);

 private:
  void put_back(const OwnValues::Value& value);
  Environment reader() const;

  spank_t spank_;
  std::string job_;
  OwnValues own_;
};

}  // namespace flor::spank
