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
#include "results/rows.h"

namespace flor::exporting {

// Numbers the places of rows as TensorBoard's steps, which must not go backwards. In one loop the step is its
// value. In two loops it counts the inner iterations through: (value of the outer loop) * N + (value of the
// inner loop), N one more than the largest inner value that is known so far. Deeper rows, and those outside
// of all loops, are counted one by one for each name. Not thread-safe.
class Steps {
 public:
  // Learns how long inner loops are. Give it all rows that are known, before their steps are asked for.
  void learn(const std::vector<results::Row>& rows);
  int64_t step_of(const results::Row& row);

 private:
  std::map<std::string, int64_t> lengths_;  // of inner loops, by the names of both loops
  std::map<std::string, int64_t> counts_;
};

struct Exported {
  std::size_t scalars = 0, histograms = 0, images = 0;
  // Rows whose value is none of these: texts, nulls, nested numbers, tensors in files.
  std::size_t left_out = 0;
};

// Not thread-safe. Throws std::system_error naming the file where it cannot be written.
class EventFile {
 public:
  // Creates or replaces events.out.tfevents.TIME.flor in `directory`, which must exist. Images are read from
  // the run's directory; one that cannot be read is left out.
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
  // Seconds since 1970, and of one iteration of the main loop.
  double started_ = 0, iteration_ = 0;
  std::string main_loop_;
  int64_t main_begin_ = 0;
  core::Descriptor file_;
  Exported exported_;
};

}  // namespace flor::exporting
