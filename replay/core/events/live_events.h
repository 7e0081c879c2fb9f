// Writes the rows of a log as an event file of TensorBoard, too, while the log is written. For users who set
// FLOR_TENSORBOARD=1.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/events/event_file.h"
#include "core/events/row_events.h"

namespace flor::core {

// Does the user want event files? Warns where FLOR_TENSORBOARD is neither 1 nor 0.
bool wants_events();

// Calls must not overlap. Nothing throws: where the file cannot be written it warns once, and ends.
class LiveEvents {
 public:
  // Creates a further file in `directory`, which is made where it is missing. Returns null where the user
  // wants none, or it cannot be made. `log`: the file of the rows. Those in it already tell which steps they
  // have, and are not written. Images lie in the log's directory.
  static std::unique_ptr<LiveEvents> begin(const std::filesystem::path& directory,
                                           const std::filesystem::path& log) noexcept;

  // Writes the events of these rows: whole lines of the log, in its order. Their time is the present.
  void take(std::string_view lines) noexcept;

 private:
  LiveEvents(const std::filesystem::path& file, const std::filesystem::path& log);
  void learn(const std::filesystem::path& log);
  std::string records_of(std::string_view lines);

  EventFile file_;
  EventSteps steps_;
  RowEvents rows_;
  bool is_over_ = false;
};

}  // namespace flor::core
