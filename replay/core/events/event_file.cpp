#include "core/events/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "core/events/event_records.h"
#include "core/files/trusted_file.h"

namespace flor::core {

EventFile::EventFile(std::filesystem::path path, double wall_time)
    : path_(std::move(path)), file_(open_regular_for(path_, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC)) {
  append(record(file_version_event(wall_time)));
}

void EventFile::append(const std::string& records) {
  for (std::size_t at = 0; at < records.size();) {
    const ssize_t written = ::write(file_.get(), records.data() + at, records.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw std::system_error(errno, std::generic_category(), path_.string());
    at += static_cast<std::size_t>(written);
  }
}

}  // namespace flor::core
