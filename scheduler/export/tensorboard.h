// Writes rows of a run as an event file of TensorBoard.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/files/descriptor.h"
#include "core/store/manifest.h"
#include "core/store/store.h"
#include "export/event_file.h"
#include "results/rows/rows.h"

namespace flor::exporting {

// Gives each row its step in TensorBoard. A row in one loop: the loop's value. In two loops: outer value * N
// + inner value, where N is the largest inner value known so far, plus one. All other rows: a count for each
// name. Not thread-safe.
class Steps {
 public:
  // Learns the N of each pair of loops. Call it with all known rows before step_of().
  void learn(const std::vector<results::Row>& rows);
  int64_t step_of(const results::Row& row);

 private:
  std::map<std::string, int64_t> lengths_;  // of inner loops, by the names of both loops
  std::map<std::string, int64_t> counts_;
};

struct Exported {
  std::size_t scalars = 0, histograms = 0, images = 0;
  // Rows whose value is none of these: texts, nulls, small tensors (nested arrays), tensors in files, images
  // that cannot be read.
  std::size_t left_out = 0;
};

// An event file of one run. Not thread-safe. Throws std::system_error naming the file where it cannot be
// written.
class EventFile {
 public:
  // Creates or replaces events.out.tfevents.TIME.flor in `directory`, which must exist. TIME: the second in
  // which the run started. Images are read from
  // the run's directory; one that cannot be read is left out, and so are all of another user's run.
  EventFile(core::RunDir run, const core::Manifest& manifest, const std::filesystem::path& directory);

  // Appends the rows. All of them are in the file when it returns.
  void append(const std::vector<results::Row>& rows, Steps& steps);
  const Exported& exported() const { return exported_; }

 private:
  void add(std::string& out, const results::Row& row, int64_t step);
  void add_tensor(std::string& out, const results::Row& row, const Place& place);
  bool add_image(std::string& out, const results::Row& row, const Place& place) const;
  double time_of(const results::Row& row) const;
  void write(const std::string& bytes);

  const core::RunDir run_;
  const std::filesystem::path path_;
  // Seconds since 1970; the mean of an iteration of the main loop.
  double started_ = 0, iteration_ = 0;
  std::string main_loop_;
  int64_t main_begin_ = 0;
  core::Descriptor file_;
  Exported exported_;
};

}  // namespace flor::exporting
