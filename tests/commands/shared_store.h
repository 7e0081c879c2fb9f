// A store that two users share, and commands as a user types them.
#pragma once

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "commands/cli/commands.h"
#include "core/files/durable.h"
#include "core/store/manifest.h"
#include "core/store/store.h"
#include "support/another_user.h"
#include "support/temporary.h"

namespace flor::gc {

inline void fill(const core::fs::path& path, std::uint64_t bytes) {
  core::write_durably(path, std::string(bytes, 'x'));
}

class SharedStore : public testing::Test {
 protected:
  void SetUp() override {
    FLOR_NEEDS_ROOT();
    ::chmod(directory_.path().c_str(), 01777);
  }
  core::RunDir make_run(const std::string& id, uid_t owner, double ended = 50) {
    const core::RunDir run = store_.run(id);
    test::plant_directory(run.path, owner);
    test::plant_directory(run.checkpoints(), owner);
    core::Manifest manifest;
    manifest.id = id;
    manifest.status = "completed";
    manifest.finished = ended;
    core::write_manifest(run, manifest);
    ::chown(run.manifest().c_str(), owner, owner);
    test::plant_file(run.lock(), "", owner);
    return run;
  }
  void fill_as(const core::fs::path& path, std::uint64_t bytes, uid_t owner) {
    fill(path, bytes);
    ::chown(path.c_str(), owner, owner);
  }
  // "CODE" or what it threw.
  std::string command(void (*add)(CLI::App&, commands::Outcome&), std::vector<std::string> words) {
    CLI::App app;
    commands::Outcome outcome;
    add(app, outcome);
    words.insert(words.end(), {"--store", store_.path().string()});
    std::reverse(words.begin(), words.end());
    try {
      app.parse(words);
    } catch (const std::exception& problem) {
      return problem.what();
    }
    return std::to_string(outcome.code);
  }
  bool is_there(const std::string& id) { return core::fs::exists(store_.run(id).manifest()); }

  test::TemporaryDirectory directory_;
  core::Store store_{directory_.path()};
};

}  // namespace flor::gc
