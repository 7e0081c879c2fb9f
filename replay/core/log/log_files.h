// Stores the files that rows refer to: whole tensors and images. Paths in rows are relative to the directory
// that holds them. A name contains a digest of the content, so an existing file need not be written again.
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

  // For a directory that is not known yet: holds files in memory until open().
  LogFiles() = default;
  explicit LogFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  // Returns FOLDER/NAME/STEM.DIGEST.SUFFIX, with characters and a length that every file system accepts.
  static std::string name_of(const std::string& folder, const std::string& name, const std::string& stem,
                             const std::string& digest, const std::string& suffix);

  // Does the file exist in the directory? False before open().
  bool has(const std::string& name) const;
  // Writes a file durably, unless it exists. Throws std::system_error naming the path, or Error if more than
  // `max_held` bytes would have to be held.
  void publish(const std::string& name, const std::vector<std::string_view>& parts);

  // Sets the directory and writes the files held so far. Returns the first failure; std::nullopt if all were
  // written.
  std::optional<std::string> open(const std::filesystem::path& directory);

 private:
  mutable std::mutex mutex_;
  std::optional<std::filesystem::path> directory_;
  // Name and content.
  std::vector<std::pair<std::string, std::string>> held_;
  std::size_t held_bytes_ = 0;
};

// Where rows store their files. Null: files are not kept.
using RowFiles = std::shared_ptr<LogFiles>;

}  // namespace flor::core
