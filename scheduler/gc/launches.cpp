#include "gc/launches.h"

#include <sys/stat.h>

#include <system_error>

#include "core/durable.h"
#include "gc/acting_as.h"
#include "gc/leftovers.h"
#include "gc/runs.h"

namespace flor::gc {
namespace {

namespace fs = core::fs;

constexpr double hour = 3600;  // seconds
constexpr double day = 24 * hour;
constexpr double longest_job = 90 * day;
constexpr std::size_t longest_text = 4096;  // bytes

// A file of that age; -1: it is no regular file.
double age_of(const fs::path& path, double now) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return -1;
  return now - static_cast<double>(info.st_mtime);
}

bool has_ended(const core::Store& store, const fs::path& path, double now) {
  const std::string name = path.filename().string();
  const double age = age_of(path, now);
  if (name.front() == '.') return age > (is_abandoned(name) ? hour : longest_job);
  if (age <= day) return false;
  try {
    const std::string text = core::read_file(path, longest_text);
    const std::string run = text.substr(0, text.find_first_of(" \n"));
    return !core::is_valid_id(run) || !fs::exists(fs::symlink_status(store.path() / run));
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

std::vector<fs::path> ended_launches(const core::Store& store, double now) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const auto& user : fs::directory_iterator(store.path() / ".launches", ignored)) {
    if (user.is_symlink(ignored) || !user.is_directory(ignored) || !is_ours(user.path())) continue;
    const ActingAs owner(user.path());
    for (const auto& launch : fs::directory_iterator(user.path(), ignored)) {
      if (has_ended(store, launch.path(), now)) out.push_back(launch.path());
    }
  }
  return out;
}

void remove_ended_launch(const core::Store& store, const fs::path& path, double now) {
  const ActingAs owner(path.parent_path());
  if (has_ended(store, path, now)) fs::remove(path);
}

}  // namespace flor::gc
