// The index of a store that a test fills.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>
#include <thread>

#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/files/file_lock.h"
#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "results/program.h"
#include "results/results.h"
#include "sql/index.h"
#include "support/another_user.h"
#include "support/refusal.h"
#include "support/temporary.h"

namespace flor::sql {

using core::Json;

class Index : public ::testing::Test {
 protected:
  Index() { core::fs::create_directory(store_.path()); }

  core::RunDir run(const std::string& id, const std::string& log,
                   std::map<std::string, std::string> args = {}) {
    const core::RunDir out = store_.run(id);
    core::fs::create_directories(out.path);
    core::Manifest manifest = results::testing::manifest(2);
    manifest.status = "completed";
    manifest.id = id;
    manifest.args = std::move(args);
    core::write_manifest(out, manifest);
    core::write_durably(out.log(), log);
    return out;
  }
  // A run of another user.
  void plant(const std::string& id, const std::string& log, uid_t owner = test::attacker) {
    const core::RunDir planted = run(id, log);
    for (const auto& path : {planted.path, planted.manifest()})
      ASSERT_EQ(::chown(path.c_str(), owner, owner), 0);
  }
  static std::string row(const std::string& at, const std::string& name, const std::string& value) {
    return results::testing::line(at, name, value);
  }

  // The lines of the answer, each the JSON array of its values.
  std::vector<std::string> ask(const std::string& query) {
    last_ = refresh(file_, store_);
    Database database(file_, Database::Access::read);
    database.allow_only_reading();
    Statement rows(database, query);
    std::vector<std::string> out;
    while (rows.step()) {
      Json line = Json::array();
      for (std::size_t i = 0; i < rows.columns().size(); ++i) line.push_back(rows.value(static_cast<int>(i)));
      out.push_back(core::json_text(line));
    }
    return out;
  }
  using Lines = std::vector<std::string>;

  test::TemporaryDirectory directory_;
  const core::Store store_{directory_.path() / "store"};
  const core::fs::path file_ = directory_.path() / "index.sqlite";
  Refreshed last_;
};

}  // namespace flor::sql
