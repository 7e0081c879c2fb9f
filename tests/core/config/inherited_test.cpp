// Which of Slurm's variables a job that was submitted inside another one has from that one.
#include "core/config/inherited.h"

#include <gtest/gtest.h>

#include <map>

namespace flor::core {
namespace {

ReadVariable reader(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) {
    const auto at = variables.find(name);
    return at == variables.end() ? "" : at->second;
  };
}

// A task of array 40 that was started again once.
const std::map<std::string, std::string> of_task{
    {"SLURM_RESTART_COUNT", "1"}, {"SLURM_ARRAY_JOB_ID", "40"}, {"SLURM_ARRAY_TASK_ID", "3"}};

TEST(Inherited, IsWhatSlurmSaysOtherwise) {
  const auto names = [](const JobNumbers& job) { return inherited_names(reader(of_task), job); };
  EXPECT_EQ(names({1, 40}), "");
  EXPECT_EQ(names({0, 40}), "SLURM_RESTART_COUNT");
  EXPECT_EQ(names({1, 0}), "SLURM_ARRAY_JOB_ID SLURM_ARRAY_TASK_ID");
  EXPECT_EQ(names({2, 41}), "SLURM_RESTART_COUNT SLURM_ARRAY_JOB_ID SLURM_ARRAY_TASK_ID");
  EXPECT_EQ(inherited_names(reader({{"SLURM_ARRAY_TASK_ID", "3"}}), {2, 41}), "");
}

TEST(Inherited, AsksSlurmOnlyWhereThereIsAnything) {
  EXPECT_TRUE(may_be_inherited(reader({{"SLURM_RESTART_COUNT", "1"}})));
  EXPECT_TRUE(may_be_inherited(reader({{"SLURM_ARRAY_JOB_ID", "40"}})));
  EXPECT_FALSE(may_be_inherited(reader({{"SLURM_JOB_ID", "42"}, {"SLURM_ARRAY_TASK_ID", "3"}})));
}

TEST(Inherited, ValuesAreNotTheJobs) {
  auto variables = of_task;
  EXPECT_EQ(slurm_variable(reader(variables), "SLURM_RESTART_COUNT"), "1");
  variables[inherited_variable] = "SLURM_RESTART_COUNT";
  EXPECT_EQ(slurm_variable(reader(variables), "SLURM_RESTART_COUNT"), "");
  EXPECT_EQ(slurm_variable(reader(variables), "SLURM_ARRAY_JOB_ID"), "40");
  variables[inherited_variable] = "SLURM_ARRAY_JOB_ID SLURM_ARRAY_TASK_ID";
  EXPECT_EQ(slurm_variable(reader(variables), "SLURM_RESTART_COUNT"), "1");
  for (const char* name : {"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"})
    EXPECT_EQ(slurm_variable(reader(variables), name), "");
}

}  // namespace
}  // namespace flor::core
