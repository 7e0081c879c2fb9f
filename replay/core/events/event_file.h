// An event file of TensorBoard that is being written.
#pragma once

#include <filesystem>
#include <string>

#include "core/files/descriptor.h"

namespace flor::core {

// Not thread-safe. Throws std::system_error naming the file where it cannot be written.
class EventFile {
 public:
  // Creates or replaces the file, with the event that begins each. `wall_time`: of that event, in seconds
  // since 1970. The directory must exist.
  EventFile(std::filesystem::path path, double wall_time);

  // Appends records (event_records.h). All of them are in the file when it returns.
  void append(const std::string& records);

 private:
  const std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace flor::core
