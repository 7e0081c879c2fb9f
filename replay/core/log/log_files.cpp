#include "core/log/log_files.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/units_text.h"
#include "core/files/durable.h"
#include "core/store/scope.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;

// Of the 255 bytes that file systems accept, without digest and suffix.
constexpr std::size_t longest = 150;

void publish_below(const fs::path& directory, const std::string& name,
                   const std::vector<std::string_view>& parts) {
  const fs::path path = directory / name;
  create_directories_durably(path.parent_path());
  DurableFile file(path);
  for (const auto part : parts) file.write(part.data(), part.size());
  file.commit_if_absent();
}

}  // namespace

std::string LogFiles::name_of(const std::string& folder, const std::string& name, const std::string& stem,
                              const std::string& digest, const std::string& suffix) {
  std::string inner = clean_name(name).substr(0, longest);
  if (inner.empty() || inner.front() == '.') inner.insert(0, "_");
  return folder + '/' + inner + '/' + stem.substr(0, longest) + (stem.empty() ? "" : ".") +
         digest.substr(0, 16) + '.' + suffix;
}

bool LogFiles::has(const std::string& name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::error_code ignored;
  return directory_ && fs::exists(*directory_ / name, ignored);
}

void LogFiles::publish(const std::string& name, const std::vector<std::string_view>& parts) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!directory_) {
      std::string content;
      for (const auto part : parts) content += part;
      if (held_bytes_ + content.size() > max_held) {
        throw Error(name + " is not written: more than " + bytes_text(max_held) +
                    " of tensors and images were logged in front of the first loop");
      }
      held_bytes_ += content.size();
      held_.emplace_back(name, std::move(content));
      return;
    }
  }
  // Read without the lock: once it is set, it does not change.
  publish_below(*directory_, name, parts);
}

std::optional<std::string> LogFiles::open(const fs::path& directory) {
  const std::lock_guard<std::mutex> lock(mutex_);
  directory_ = directory;
  std::optional<std::string> problem;
  for (const auto& [name, content] : held_) {
    try {
      publish_below(directory, name, {content});
    } catch (const std::exception& failure) {
      if (!problem) problem = failure.what();
    }
  }
  held_.clear();
  return problem;
}

}  // namespace flor::core
