// flor gc: what becomes of a killed run whose job Slurm says nothing of.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>

#include "commands/garbage.h"
#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/store/owner.h"
#include "gc/runs.h"

namespace flor::gc {
namespace {

class SilentSlurm : public Garbage {
 protected:
  void SetUp() override {
    run = make_run("r1");
    core::Manifest manifest = core::read_manifest(run);
    manifest.status = "recording";
    manifest.finished.reset();
    core::write_manifest(run, manifest);
    core::fs::create_directory(programs);
    ::setenv("SLURM_CLUSTER_NAME", "alpha", 1);
  }
  void TearDown() override {
    ::setenv("PATH", path.c_str(), 1);
    ::unsetenv("SLURM_CLUSTER_NAME");
  }
  // A process that has ended, of a job of this cluster.
  void own(const std::string& job, const std::string& cluster = "alpha") {
    core::Owner owner = core::this_process(run.path);
    owner.start += 1;
    owner.cluster = cluster;
    owner.job = job;
    core::write_durably(run.path / "owner.0.json", core::json_text(core::to_json(owner)));
  }
  // No other program of Slurm's is found.
  void squeue_is(const std::string& script) {
    if (!script.empty()) {
      core::write_durably(programs / "squeue", "#!/bin/sh\n" + script + "\n");
      ::chmod((programs / "squeue").c_str(), 0755);
    }
    for (const char* tool : {"env", "sed", "timeout", "sleep"})
      core::fs::create_symlink("/usr/bin/" + std::string(tool), programs / tool);
    ::setenv("PATH", programs.c_str(), 1);
  }
  // What Slurm answers holds for 10 s in a process, so each test asks in one of its own.
  static void in_another_process(const std::function<void()>& checks) {
    const pid_t child = ::fork();
    if (child == 0) {
      checks();
      ::_exit(HasFailure() ? 1 : 0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  void expect_kept() {
    in_another_process([this] { check_kept(); });
  }
  void expect_gone() {
    in_another_process([this] { check_gone(); });
  }
  void check_kept() {
    const RunFacts facts = facts_of(run);
    EXPECT_EQ(facts.status, "killed");
    EXPECT_NE(facts.busy.find("Slurm does not say whether its job is over"), std::string::npos) << facts.busy;
    EXPECT_THROW(remove_run(store_, facts), core::Error);
    EXPECT_TRUE(core::fs::exists(run.manifest()));
  }
  void check_gone() {
    const RunFacts facts = facts_of(run);
    EXPECT_EQ(facts.busy, "");
    remove_run(store_, facts);
    EXPECT_FALSE(core::fs::exists(run.path));
  }

  core::RunDir run;
  const core::fs::path programs = directory_ / "programs";
  const std::string path = ::getenv("PATH");
};

TEST_F(SilentSlurm, KeepsARunWhoseJobMayWait) {
  squeue_is("echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1");
  own("41");
  expect_kept();
}

TEST_F(SilentSlurm, KeepsTheRunOfAnotherClustersJob) {
  squeue_is("exit 0");
  own("41", "beta");
  expect_kept();
}

TEST_F(SilentSlurm, KeepsItNoLongerThanAnyJobWaits) {
  squeue_is("exit 1");
  own("41");
  core::fs::last_write_time(run.path / "owner.0.json",
                            core::fs::file_time_type::clock::now() - std::chrono::hours(91 * 24));
  expect_gone();
}

TEST_F(SilentSlurm, IsNoMatterWhereTheRunHasNoJob) {
  squeue_is("exit 1");
  own("");
  expect_gone();
}

TEST_F(SilentSlurm, IsNoMatterOnAMachineWithoutSlurm) {
  squeue_is("");
  own("41");
  expect_gone();
}

TEST_F(SilentSlurm, IsNotSilentWhereItListsTheJobNoMore) {
  squeue_is("exit 0");
  own("41");
  expect_gone();
}

}  // namespace
}  // namespace flor::gc
