// An append-only file that forgets nothing over a failed write or sync. The kernel reports such a failure
// once, and may have dropped any bytes since the last good sync; the next sync would succeed without them. So
// this keeps those bytes, and writes them again, in place, before the next sync.
//
// Thread-safe. The file must have no other writer.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <mutex>
#include <string>

#include "core/files/descriptor.h"

namespace flor::core {

class DurableTail {
 public:
  // Most bytes that wait for a good sync. Beyond it append() refuses.
  static constexpr std::size_t limit = std::size_t{64} << 20;

  // Opens the file, or creates it. Throws std::system_error, or Error.
  explicit DurableTail(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  // Moves bytes from the front of `text` to the end of the file, as many as the disk accepts. Returns false
  // with errno set if some are left.
  bool append(std::string& text);
  // Makes all that was appended durable. Returns false with errno set if that failed.
  bool sync();
  // Returns how many bytes are not known to be durable.
  std::size_t unsynced();

 private:
  bool write_again();

  std::filesystem::path path_;
  Descriptor file_;
  // One sync at a time: of two, one would get the error, and the other would take it for success.
  std::mutex sync_mutex_;
  // Guards what follows.
  std::mutex mutex_;
  // The file is durable up to here.
  off_t durable_ = 0;
  // What the file has behind that.
  std::string unsynced_;
  // A write or a sync failed, so any of unsynced_ may be missing in the file.
  bool suspect_ = false;
  // Writes that failed.
  std::size_t failures_ = 0;
  int sync_error_ = 0;
};

}  // namespace flor::core
