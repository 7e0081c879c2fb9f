// A store with runs that flor gc may remove.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/checkpoint/reader.h"
#include "core/files/durable.h"
#include "core/files/json_lines.h"
#include "core/store/manifest.h"
#include "core/store/store.h"
#include "support/temporary.h"

namespace flor::gc {

using Names = std::vector<std::string>;

class Garbage : public testing::Test {
 protected:
  core::RunDir make_run(const std::string& id, const std::string& label = "") {
    const core::RunDir run = store_.run(id);
    core::fs::create_directories(run.checkpoints() / "train");
    core::Manifest manifest;
    manifest.id = id;
    manifest.status = "completed";
    manifest.finished = 50;
    core::write_manifest(run, manifest);
    std::ofstream(run.lock()).flush();
    EXPECT_TRUE(label.empty() || store_.claim_label(label, id));
    return run;
  }

  // A checkpoint with one tensor of its own and, with `holder`, one whose bytes lie there.
  void add_checkpoint(const core::RunDir& run, int64_t epoch, const std::string& holder = "") {
    const std::string own = "own" + std::to_string(epoch);
    core::CheckpointHeader header;
    header.run = run.id();
    header.block = "train";
    header.at = "epoch=" + std::to_string(epoch) + "/train#0";
    header.tensors.resize(1);
    header.tensors[0] = {"own", "U8", {4}, core::digest_of(own), 0, 4, "", ""};
    if (!holder.empty()) {
      const std::string held =
          core::read_file(run.path / holder).substr(core::fs::file_size(run.path / holder) - 4);
      header.tensors.push_back({"held", "U8", {4}, core::digest_of(held), 0, 0, holder, "own"});
    }
    const std::string text = core::encode_header(header) + own;
    core::write_durably(run.path / file(epoch), text);
    core::LineAppender timeline(run.timeline());
    timeline.append(core::Json({{"kind", "checkpoint"},
                                {"at", header.at},
                                {"block", "train"},
                                {"file", file(epoch)},
                                {"state", header.state}})
                        .dump() +
                    "\n");
  }
  static std::string file(int64_t epoch) {
    return core::RunDir::checkpoint_file("train", "epoch=" + std::to_string(epoch)).string();
  }
  static Names present(const core::RunDir& run) {
    Names out;
    for (const auto& entry : core::fs::directory_iterator(run.checkpoints() / "train"))
      out.push_back(entry.path().stem().string());
    std::sort(out.begin(), out.end());
    return out;
  }

  test::TemporaryDirectory directory_;
  core::Store store_{directory_.path()};
};

}  // namespace flor::gc
