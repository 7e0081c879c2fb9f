#include "core/store/local_tier.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/config/settings.h"
#include "core/files/descriptor.h"
#include "core/files/durable.h"
#include "core/files/private_directory.h"
#include "core/files/shared_directory.h"
#include "core/process/above_streams.h"
#include "core/store/manifest.h"

namespace flor::core {
namespace {

const char* const way_out = "choose another local tier (--flor-local, FLOR_LOCAL)";

bool has_dots(const fs::path& path) {
  return std::any_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
}

// A user who can rename DIR/flor-UID could put another directory in its place.
void require_safe_tier(const fs::path& tier) {
  struct stat info = {};
  if (::stat(tier.c_str(), &info) != 0) {
    throw Error("the local tier " + tier.string() + " cannot be used (" +
                std::generic_category().message(errno) + "); create it, or " + way_out);
  }
  if (!S_ISDIR(info.st_mode)) throw Error("the local tier " + tier.string() + " is no directory; " + way_out);
  if (info.st_uid != 0 && info.st_uid != ::geteuid())
    throw Error("the local tier " + tier.string() + " is another user's; " + way_out);
  if ((info.st_mode & 022) != 0 && (info.st_mode & S_ISVTX) == 0) {
    throw Error("in the local tier " + tier.string() +
                " others may rename what is ours; set its sticky bit (chmod +t), or " + way_out);
  }
}

constexpr std::time_t young_s = 2;

// A forked child may go on writing after the recording was killed. The kernel refuses a read lease while any
// process has the file open for writing (fcntl(2), F_SETLEASE). Between close and rename no process has, so a
// young file counts as being written.
bool is_being_written(const fs::path& path) {
  const Descriptor file(above_streams(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)));
  struct stat info = {};
  if (!file || ::fstat(file.get(), &info) != 0) return false;
  if (std::time(nullptr) - info.st_mtim.tv_sec <= young_s) return true;
  if (::fcntl(file.get(), F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN;
  ::fcntl(file.get(), F_SETLEASE, F_UNLCK);
  return false;
}

// Removes what writers left half written. Returns false where one of them still writes.
bool remove_unfinished(const fs::path& directory) {
  for (const auto& file : temporaries_in(directory)) {
    if (is_being_written(file)) return false;
    fs::remove(file);
  }
  return true;
}

// Returns false where the directory is not empty.
bool remove_directory(const fs::path& path) {
  if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return true;
  if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR) return false;
  throw std::system_error(errno, std::generic_category(), "cannot remove " + path.string());
}

}  // namespace

bool LocalRun::has_home() const {
  std::error_code ignored;
  return directory_owner(home.path) == ::geteuid() && fs::exists(home.manifest(), ignored);
}

fs::path local_root(const fs::path& tier) {
  return tier / ("flor-" + std::to_string(::geteuid()));
}

LocalRun create_local_run(const fs::path& tier, const RunDir& run, std::uint64_t rate) {
  require_safe_tier(tier);
  const fs::path root = local_root(tier);
  make_private_directory(root, way_out);
  LocalRun local{root / run.id(), run, node_name(), rate};
  const fs::path unnamed = root / ("." + run.id() + "." + std::to_string(::getpid()));
  make_private_directory(unnamed, way_out);
  write_durably(unnamed / local.info().filename(), json_text({{"format", 1},
                                                              {"run", run.id()},
                                                              {"store", run.path.string()},
                                                              {"node", local.node},
                                                              {"rate", rate}}) +
                                                       "\n");
  if (::rename(unnamed.c_str(), local.path.c_str()) != 0) {
    const int error = errno;
    std::error_code ignored;
    fs::remove_all(unnamed, ignored);
    throw Error("cannot create " + local.path.string() + ": " + std::generic_category().message(error));
  }
  sync_directory(root);
  return local;
}

bool is_same_run(const RunDir& one, const RunDir& other) {
  std::error_code ignored;
  return one.path == other.path ||
         (one.id() == other.id() &&
          fs::equivalent(one.path.parent_path(), other.path.parent_path(), ignored));
}

LocalRun open_local_run(const fs::path& path) {
  const fs::path root = path.parent_path();
  const fs::path tier = root.parent_path();
  if (!path.is_absolute() || has_dots(path) || root != local_root(tier) ||
      !is_valid_id(path.filename().string())) {
    throw Error(path.string() + " is no directory of a run in a local tier of this user");
  }
  require_safe_tier(tier);
  require_private_directory(root, way_out);
  require_private_directory(path, way_out);
  LocalRun local;
  local.path = path;
  const Json json = parse_json(read_file(local.info()));
  local.home.path = field<std::string>(json, "store", "");
  local.node = field<std::string>(json, "node", "");
  local.rate = field<std::uint64_t>(json, "rate", 0);
  const std::string id = path.filename().string();
  if (field(json, "format", 0) != 1 || field<std::string>(json, "run", "") != id || local.home.id() != id ||
      !local.home.path.is_absolute() || has_dots(local.home.path)) {
    throw Error(local.info().string() + " does not say where in the store run " + id + " lies");
  }
  struct stat info = {};
  if (::lstat(local.home.path.c_str(), &info) == 0 && (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()))
    throw Error(local.home.path.string() + " is a link, or another user's: nothing is written there");
  return local;
}

std::vector<fs::path> local_runs(const fs::path& root) {
  std::vector<fs::path> out;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(root, error))) return out;
  require_private_directory(root, way_out);
  for (const auto& entry : fs::directory_iterator(root)) {
    if (is_valid_id(entry.path().filename().string())) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string where_else(const RunDir& run) {
  try {
    const Manifest manifest = read_manifest(run);
    if (manifest.local.empty()) return "";
    return "; it may still lie in the local tier of node " + manifest.host + " (" + manifest.local + ")";
  } catch (const std::exception&) {
    return "";
  }
}

Removal remove_local_run(const LocalRun& local) {
  const fs::path checkpoints = RunDir{local.path}.checkpoints();
  std::vector<fs::path> blocks;
  if (fs::is_directory(checkpoints)) {
    for (const auto& entry : fs::directory_iterator(checkpoints)) blocks.push_back(entry.path());
  }
  for (const auto& block : blocks) {
    if (fs::is_directory(fs::symlink_status(block)) && !remove_unfinished(block))
      return Removal::being_written;
    if (!remove_directory(block)) return Removal::not_empty;
  }
  if (!remove_directory(checkpoints)) return Removal::not_empty;
  fs::remove(local.lock());
  fs::remove(local.info());
  return remove_directory(local.path) ? Removal::done : Removal::not_empty;
}

}  // namespace flor::core
