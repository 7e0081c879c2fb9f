// The files that rows name: whole tensors and images, below the directory that the rows' paths are relative
// to. A name carries a digest of what the file holds, so whoever finds it there need not write it again.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flor::core {

// Thread-safe.
class LogFiles {
 public:
  static constexpr std::size_t max_held = std::size_t{64} << 20;

  LogFiles() = default;  // the directory is not known yet: files are held until open()
  explicit LogFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  // FOLDER/NAME/STEM.DIGEST.SUFFIX, in characters and of a length that every file system takes.
  static std::string name_of(const std::string& folder, const std::string& name, const std::string& stem,
                             const std::string& digest, const std::string& suffix);

  bool has(const std::string& name) const;
  // Durably, unless a file of the name is there. Throws std::system_error that names the path, or Error when
  // more than `max_held` bytes would have to be held.
  void publish(const std::string& name, const std::vector<std::string_view>& parts);

  // Writes what was held. Returns what went wrong, nothing when all was written.
  std::optional<std::string> open(const std::filesystem::path& directory);

 private:
  mutable std::mutex mutex_;
  std::optional<std::filesystem::path> directory_;
  std::vector<std::pair<std::string, std::string>> held_;  // name, content
  std::size_t held_bytes_ = 0;
};

// Where the files lie that a row names; null: they are not kept.
using RowFiles = std::shared_ptr<LogFiles>;

}  // namespace flor::core
