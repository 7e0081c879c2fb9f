#include "results/report/damage.h"

#include <map>
#include <set>

#include "core/base/digest.h"
#include "core/checkpoint/listing.h"
#include "core/checkpoint/reader.h"
#include "core/files/durable.h"
#include "core/files/json_lines.h"
#include "core/store/generators.h"
#include "core/store/manifest.h"
#include "core/store/timeline.h"
#include "results/local_tier.h"
#include "results/report/summary.h"
#include "results/results.h"

namespace flor::results {
namespace {

using core::field;
using core::Json;

class Checker {
 public:
  explicit Checker(const core::RunDir& run) : run_(run) {}

  CheckReport check() {
    check_manifest();
    check_lines("log.jsonl", "its rows cannot be read or compared: no replay of this run gets a verdict",
                [](const core::JsonLines& lines, const std::string& file) {
                  for (const auto& row : lines.rows)
                    if (!row.contains("@event")) row_from(row, file);
                });
    check_lines("timeline.jsonl", "replay cannot be planned: it needs the recorded costs and checkpoints",
                [this](const core::JsonLines& lines, const std::string&) {
                  timeline_.assign(lines.rows.begin(), lines.rows.end());
                });
    check_lines("generators.jsonl",
                "the state of the random number generators is lost: replay refuses this run",
                [](const core::JsonLines& lines, const std::string& file) {
                  core::GeneratorLog verified(lines.rows, file);
                });
    check_checkpoints();
    return std::move(report_);
  }

 private:
  void damage(const std::string& file, const std::string& what, const std::string& consequence) {
    report_.damages.push_back({file, what, consequence});
  }

  // Removes the path at the start of a message, because the report shows the file separately.
  std::string without_path(std::string what, const std::string& file) const {
    for (const std::string& prefix : {(run_.path / file).string(), file}) {
      if (what.compare(0, prefix.size(), prefix) == 0) what.erase(0, prefix.size());
    }
    const auto begin = what.find_first_not_of(": ");
    return begin == std::string::npos ? what : what.substr(begin);
  }

  void check_manifest() {
    try {
      const core::Manifest manifest = core::read_manifest(run_);
      manifest_ = manifest;
      finished_ = manifest.status == "completed" || manifest.status == "failed";
      for (const auto& source : manifest.sources) check_source(source);
      for (const auto& warning : manifest.warnings)
        report_.notes.push_back("said while recording: " + warning);
      if (status_of(run_, manifest) == "killed") {
        report_.notes.emplace_back(
            "the recording was killed: replay offers the iterations that were finished");
      }
    } catch (const std::exception& problem) {
      damage("run.json", without_path(problem.what(), "run.json"), "this run cannot be replayed");
    }
  }

  void check_source(const core::RecordedSource& source) {
    const std::string consequence =
        "new log statements in " + source.path + " cannot be told from old ones: replay executes every block";
    try {
      if (core::digest_of(core::read_file(run_.path / source.file)) != source.digest) {
        damage(source.file, "its text does not match its digest", consequence);
      }
    } catch (const std::exception& problem) {
      damage(source.file, problem.what(), consequence);
    }
  }

  template <class Verify>
  void check_lines(const std::string& file, const std::string& consequence, Verify verify) {
    const core::fs::path path = run_.path / file;
    try {
      if (!core::fs::exists(path)) {
        if (finished_) damage(file, "the file is missing", consequence);
        return;
      }
      const core::JsonLines lines = core::read_json_lines(path);
      if (lines.torn && finished_) damage(file, "its last line is cut off", consequence);
      if (lines.torn && !finished_)
        report_.notes.push_back(file + ": its last line was cut off and is left out");
      verify(lines, path.string());
    } catch (const std::exception& problem) {
      damage(file, without_path(problem.what(), file), consequence);
    }
  }

  void check_checkpoints() {
    const core::CheckpointFiles present = core::checkpoint_files(run_);
    report_.bytes = present.bytes;
    std::set<std::string> files(present.files.begin(), present.files.end());
    for (const auto* row : core::kept_checkpoints(timeline_))
      files.insert(field<std::string>(*row, "file", ""));
    // The file of a removed checkpoint may stay because others refer to it. Then it is verified with them.
    const auto removed = core::removed_checkpoints(timeline_);
    for (const auto& file : removed) files.erase(file);
    report_.removed = static_cast<int64_t>(removed.size());
    const LocalTier tier = local_tier_of(run_, manifest_, timeline_);
    if (!tier.waiting.empty()) report_.notes.push_back(local_tier_text(tier));
    // Each checkpoint that refers to a damaged file reports it again, so collect who reports which damage.
    std::vector<std::string> lines;
    std::map<std::string, std::vector<std::string>> found_by;
    for (const auto& file : files) {
      if (tier.waiting.count(file) != 0) continue;
      ++report_.checkpoints;
      for (const auto& line : core::Checkpoint::verify(run_, file)) {
        const bool waits = tier.waiting.count(line.substr(0, line.find(": "))) != 0;
        if (waits) continue;
        auto& files = found_by[line];
        if (files.empty()) lines.push_back(line);
        files.push_back(file);
      }
    }
    for (const auto& line : lines) add_checkpoint_damage(line, found_by.at(line));
  }

  void add_checkpoint_damage(const std::string& line, const std::vector<std::string>& found_by) {
    const std::string& file = line.substr(0, line.find(": "));
    const std::string& verified = found_by.front();
    const bool iteration = verified.find("/@iteration/") != std::string::npos;
    std::string consequence =
        iteration ? "replay starts from the checkpoint before " + verified + " and computes again from there"
                  : "replay executes the block instead of restoring " + verified;
    if (found_by.size() > 1) {
      consequence +=
          "; so it is with " + std::to_string(found_by.size() - 1) +
          (found_by.size() == 2 ? " more checkpoint that refers to it" : " more that refer to it") +
          ", the last " + found_by.back();
    }
    damage(file, without_path(line, file), consequence);
  }

  const core::RunDir& run_;
  CheckReport report_;
  core::Manifest manifest_;
  core::Timeline timeline_;
  bool finished_ = false;  // the recording came to its end
};

}  // namespace

CheckReport check_run(const core::RunDir& run) {
  return Checker(run).check();
}

Json to_json(const CheckReport& report) {
  Json damages = Json::array();
  for (const auto& damage : report.damages) {
    damages.push_back({{"file", damage.file}, {"what", damage.what}, {"consequence", damage.consequence}});
  }
  return {{"damaged", !report.damages.empty()},
          {"checkpoints", report.checkpoints},
          {"removed", report.removed},
          {"bytes", report.bytes},
          {"damages", damages},
          {"notes", report.notes}};
}

}  // namespace flor::results
