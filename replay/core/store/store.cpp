#include "core/store/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <random>
#include <system_error>

#include "core/base/error.h"
#include "core/base/messages.h"
#include "core/files/durable.h"
#include "core/files/existence.h"
#include "core/files/next_entry.h"
#include "core/files/shared_directory.h"
#include "core/files/trusted_file.h"
#include "core/process/above_streams.h"

namespace flor::core {
namespace {

[[noreturn]] void fail(const char* what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

const std::string removed_prefix = ".removed.";
const std::string names = ".names";
const std::string launch_directory = ".launches";
constexpr std::size_t most_of_a_launch = 4096;  // bytes

// Returns the last component of the link's target; empty where it is not a link of this user.
std::string link_target(int directory, const std::string& name) {
  struct stat info = {};
  if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || info.st_uid != ::geteuid())
    return "";
  std::array<char, 4096> target{};
  const ssize_t size = ::readlinkat(directory, name.c_str(), target.data(), target.size());
  return size <= 0 ? ""
                   : fs::path(std::string(target.data(), static_cast<std::size_t>(size))).filename().string();
}

std::vector<std::string> names_in(int directory) {
  std::vector<std::string> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(
      ::fdopendir(::fcntl(directory, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)), ::closedir);
  if (!entries)
    throw std::system_error(errno, std::generic_category(), "cannot read a directory of the store");
  while (const dirent* entry = next_entry(entries.get())) out.emplace_back(entry->d_name);
  return out;
}

// Is this a directory with a manifest? A link is none: it could lead to a run of this user's in another
// store, whose owner would then be judged in place of the one who made the link. The manifest may be a link,
// so that the run is listed, as unreadable. std::nullopt where that cannot be seen; errno then says why.
std::optional<bool> has_manifest(const fs::path& run) {
  struct stat info = {};
  if (::lstat(run.c_str(), &info) == 0 && !S_ISDIR(info.st_mode)) return false;
  return existence_of(run / "run.json");
}

[[noreturn]] void refuse_closed(const fs::path& run, const std::string& label) {
  const int error = errno;
  throw UsageError("run " + run.filename().string() +
                   (label.empty() ? "" : ", which has the name '" + label + "',") +
                   " cannot be read: " + run.string() + ": " + std::strerror(error) +
                   (error == EACCES ? "; open its directory again (chmod u+rwx)" : ""));
}

}  // namespace

void require_id(const char* what, const std::string& id) {
  if (!is_valid_id(id)) {
    throw UsageError("'" + id + "' is no " + what + ": use letters, digits, '.', '_' and '-', at most 128");
  }
}

std::string new_id(const std::string& prefix) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &utc);
  std::random_device random;
  // The tasks of a job array begin in the same second, thousands of them.
  char tail[32];
  std::snprintf(tail, sizeof tail, "-%08x%08x", random(), random());
  return prefix + stamp + tail;
}

void Store::require_writable() const {
  const std::string name = "the store " + path_.string();
  std::error_code error;
  if (!fs::is_directory(path_.parent_path(), error)) {
    throw UsageError(name + " cannot be created: its parent directory " + path_.parent_path().string() +
                     " does not exist; create it, or choose another store (--flor-store, FLOR_STORE)");
  }
  const auto refuse = [&](const std::string& why) {
    throw UsageError(
        name + " cannot be written (" + why +
        "); free space or change its permissions, or choose another store (--flor-store, FLOR_STORE)");
  };
  try {
    fs::create_directory(path_);
    prove_writable(path_);
  } catch (const Error& problem) {
    throw UsageError(name + " cannot be used: " + problem.what());
  } catch (const std::system_error& problem) {
    refuse(problem.code().message());
  }
  try {
    make_user_directory(path_, names);
    make_user_directory(path_, launch_directory);
  } catch (const Error& problem) {
    throw UsageError(name + " cannot be used: " + problem.what());
  } catch (const std::system_error& problem) {
    refuse(problem.what());
  }
}

RunDir Store::run(const std::string& id) const {
  require_id("run id", id);
  return {path_ / id};
}

bool Store::has_run(const std::string& id) const {
  return is_valid_id(id) && has_manifest(path_ / id) == true;
}

RunDir Store::find(const std::string& wanted) const {
  if (is_valid_id(wanted)) {
    const bool is_own = directory_owner(path_ / wanted) == ::geteuid();
    const auto is_run = has_manifest(path_ / wanted);
    if (is_own && !is_run) refuse_closed(path_ / wanted, "");
    if (is_own && *is_run) return {path_ / wanted};
    // A label comes before another user's run: anyone may give a directory the name of this user's label.
    if (const auto run = labelled(wanted)) return *run;
    if (const std::string gone = label_target(wanted); !gone.empty())
      throw UsageError("the name '" + wanted + "' is that of run " + gone +
                       ", which is no longer in the store " + path_.string());
    // So does the beginning of this user's ids, which anyone could make a whole id of theirs.
    std::vector<RunDir> own, others;
    for (auto& run : runs()) {
      if (run.id().compare(0, wanted.size(), wanted) != 0) continue;
      (directory_owner(run.path) == ::geteuid() ? own : others).push_back(run);
    }
    if (own.empty() && is_run == true) return {path_ / wanted};
    const auto& matches = own.empty() ? others : own;
    if (matches.size() == 1) return matches.front();
    if (matches.size() > 1) {
      throw UsageError("'" + wanted + "' could be any of " + std::to_string(matches.size()) + " runs in " +
                       path_.string() + "; give more of its id (`flor runs` lists them)");
    }
  }
  throw UsageError("there is no run '" + wanted + "' in the store " + path_.string() +
                   "; `flor runs` lists them, --flor-store or FLOR_STORE chooses another store");
}

RunDir Store::find_own(const std::string& wanted) const {
  RunDir run = find(wanted);
  const uid_t owner = directory_owner(run.path);
  if (owner == ::geteuid()) return run;
  throw UsageError(
      "run " + run.id() + " is another user's (" + std::to_string(owner) +
      "), who could change what a replay of it starts; if you trust what its author recorded, copy it "
      "into a store of your own: rsync -r --no-links --exclude=/replays --chmod=go-w " +
      run.path.string() + "/ STORE/" + run.id());
}

std::vector<RunDir> Store::runs() const {
  std::vector<RunDir> out;
  if (!is_there(path_)) return out;
  for (const auto& entry : fs::directory_iterator(path_)) {
    if (!is_valid_id(entry.path().filename().string())) continue;
    const auto is_run = has_manifest(entry.path());
    // Hidden by a failed file server: listed, so that who reads it says so.
    if (is_run ? *is_run : errno != EACCES) out.push_back({entry.path()});
  }
  std::sort(out.begin(), out.end(), [](const RunDir& a, const RunDir& b) { return a.path < b.path; });
  return out;
}

fs::path Store::label(const std::string& label) const {
  require_id("run name", label);
  return user_directory(path_, names) / label;
}

fs::path Store::launch(const std::string& id) const {
  require_id("launch id", id);
  return user_directory(path_, launch_directory) / id;
}

std::string Store::label_target(const std::string& name) const {
  require_id("run name", name);
  const Descriptor directory = open_user_directory(path_, names);
  return directory ? link_target(directory.get(), name) : "";
}

std::optional<RunDir> Store::labelled(const std::string& name) const {
  const std::string id = label_target(name);
  if (!is_valid_id(id)) return std::nullopt;
  const auto is_run = has_manifest(path_ / id);
  if (is_run == false) return std::nullopt;
  if (directory_owner(path_ / id) != ::geteuid())
    throw UsageError("the name '" + name + "' is that of run " + id +
                     ", which is another user's; give its id if you mean it");
  if (!is_run) refuse_closed(path_ / id, name);
  return RunDir{path_ / id};
}

std::optional<std::string> Store::launched(const std::string& id) const {
  require_id("launch id", id);
  const Descriptor directory = open_user_directory(path_, launch_directory);
  struct stat info = {};
  if (!directory) return std::nullopt;
  if (::fstatat(directory.get(), id.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return std::nullopt;
    fail("cannot look at", launch(id));
  }
  const std::string text = read_regular(directory.get(), id, Links::refused, most_of_a_launch);
  return text.substr(0, text.find_first_of(" \n"));
}

std::vector<std::string> Store::launches() const {
  const Descriptor directory = open_user_directory(path_, launch_directory);
  return directory ? names_in(directory.get()) : std::vector<std::string>{};
}

std::string Store::program_begun(const std::string& id) const {
  require_id("launch id", id);
  try {
    const Descriptor directory = open_user_directory(path_, launch_directory);
    return directory ? read_regular(directory.get(), "." + id + ".begun", Links::refused, most_of_a_launch)
                     : "";
  } catch (const std::exception&) {
    return "";
  }
}

fs::path Store::removed(const std::string& run) const {
  require_id("run id", run);
  return path_ / (removed_prefix + run);
}

std::vector<std::string> Store::all_removed() const {
  std::vector<std::string> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path_, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(removed_prefix, 0) != 0) continue;
    const std::string id = name.substr(removed_prefix.size());
    if (is_valid_id(id)) out.push_back(id);
  }
  std::sort(out.begin(), out.end());
  return out;
}

void Store::free_labels(const std::string& run) const {
  Descriptor directory;
  try {
    directory = open_user_directory(path_, names);
  } catch (const Error&) {
    // Then none of them is this user's.
    return;
  }
  if (!directory) return;
  for (const auto& name : names_in(directory.get())) {
    if (link_target(directory.get(), name) == run) ::unlinkat(directory.get(), name.c_str(), 0);
  }
}

bool Store::claim_label(const std::string& name, const std::string& run) const {
  const fs::path link = label(name);
  const Descriptor directory = make_user_directory(path_, names);
  if (::symlinkat((fs::path("../..") / run).c_str(), directory.get(), name.c_str()) != 0) {
    if (errno != EEXIST) fail("cannot create", link);
    // This call may have made it: an NFS server that is asked once more says EEXIST.
    if (link_target(directory.get(), name) != run) return false;
  }
  step::sync(directory.get());
  return true;
}

void Store::disclaim_launch(const std::string& id) const {
  const Descriptor directory = open_user_directory(path_, launch_directory);
  if (directory) ::unlinkat(directory.get(), ("." + launch(id).filename().string() + ".begun").c_str(), 0);
}

void Store::mark_launch_shared(const std::string& id) const {
  make_user_directory(path_, launch_directory);
  const fs::path at = launch(id);
  publish_once(at.parent_path() / ("." + at.filename().string() + ".shared"), "\n");
}

bool Store::claim_launch(const std::string& id, const std::string& run) const {
  make_user_directory(path_, launch_directory);
  return publish_once(launch(id), run + "\n") == Published::first;
}

}  // namespace flor::core
