#include "core/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <random>
#include <system_error>
#include <utility>

#include "core/durable.h"
#include "core/error.h"

namespace flor::core {
namespace {

[[noreturn]] void fail(const char* what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

void require_id(const char* what, const std::string& id) {
  if (!is_valid_id(id)) {
    throw UsageError("'" + id + "' is no " + what + ": use letters, digits, '.', '_' and '-', at most 128");
  }
}

const std::string removed_prefix = ".removed.";

int open_lock(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) fail("cannot open", path);
  return fd;
}

// Descriptors of the locks held, plus one; 0 is free. A fixed table: a forked child may not take a mutex.
std::array<std::atomic<int>, 16> held_locks{};

}  // namespace

bool is_valid_id(std::string_view id) {
  auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !id.empty() && id.size() <= 128 && alphanumeric(id.front()) &&
         std::all_of(id.begin(), id.end(),
                     [&](char c) { return alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

std::string new_id(const std::string& prefix) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &utc);
  std::random_device random;
  char tail[8];
  std::snprintf(tail, sizeof tail, "-%04x", random() & 0xffffU);
  return prefix + stamp + tail;
}

bool is_locked(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool taken = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return taken;
}

fs::path ReplayDir::unit(int64_t id) const {
  std::string number = std::to_string(id);
  if (number.size() < 6) number.insert(0, 6 - number.size(), '0');
  return units() / (number + ".jsonl");
}

fs::path RunDir::checkpoint_file(const std::string& block, const std::string& stem, int64_t attempt) {
  const std::string mark = attempt == 0 ? "" : "@" + std::to_string(attempt);
  return fs::path("checkpoints") / block / (stem + mark + ".safetensors");
}

ReplayDir RunDir::replay(const std::string& id) const {
  require_id("replay id", id);
  return {replays() / id};
}

std::vector<ReplayDir> RunDir::all_replays() const {
  std::vector<ReplayDir> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(replays(), ignored)) {
    if (fs::exists(entry.path() / "plan.json", ignored)) out.push_back({entry.path()});
  }
  std::sort(out.begin(), out.end(), [](const ReplayDir& a, const ReplayDir& b) {
    std::error_code none;
    const auto ta = fs::last_write_time(a.plan(), none);
    const auto tb = fs::last_write_time(b.plan(), none);
    return ta != tb ? ta < tb : a.path < b.path;
  });
  return out;
}

bool RunDir::is_being_recorded() const {
  return is_locked(lock());
}

void Store::require_writable() const {
  const std::string name = "the store " + path_.string();
  std::error_code error;
  if (!fs::is_directory(path_.parent_path(), error)) {
    throw UsageError(name + " cannot be created: its parent directory " + path_.parent_path().string() +
                     " does not exist; create it, or choose another store (--flor-store, FLOR_STORE)");
  }
  try {
    fs::create_directory(path_);
    const fs::path proof = path_ / (".writable." + std::to_string(::getpid()));
    write_durably(proof, std::string(4096, '\n'));
    fs::remove(proof);
  } catch (const std::system_error& problem) {
    throw UsageError(
        name + " cannot be written (" + problem.code().message() +
        "); free space or change its permissions, or choose another store (--flor-store, FLOR_STORE)");
  }
}

RunDir Store::run(const std::string& id) const {
  require_id("run id", id);
  return {path_ / id};
}

RunDir Store::find(const std::string& wanted) const {
  if (is_valid_id(wanted)) {
    if (fs::exists(path_ / wanted / "run.json")) return {path_ / wanted};
    std::error_code error;
    const fs::path target = fs::read_symlink(label(wanted), error);
    if (!error && is_valid_id(target.filename().string()) &&
        fs::exists(path_ / target.filename() / "run.json")) {
      return {path_ / target.filename()};
    }
    std::vector<RunDir> matches;
    for (auto& run : runs()) {
      if (run.id().compare(0, wanted.size(), wanted) == 0) matches.push_back(run);
    }
    if (matches.size() == 1) return matches.front();
    if (matches.size() > 1) {
      throw UsageError("'" + wanted + "' could be any of " + std::to_string(matches.size()) + " runs in " +
                       path_.string() + "; give more of its id (`flor runs` lists them)");
    }
  }
  throw UsageError("there is no run '" + wanted + "' in the store " + path_.string() +
                   "; `flor runs` lists them, --flor-store or FLOR_STORE chooses another store");
}

std::vector<RunDir> Store::runs() const {
  std::vector<RunDir> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path_, ignored)) {
    const std::string name = entry.path().filename().string();
    if (is_valid_id(name) && fs::exists(entry.path() / "run.json", ignored)) out.push_back({entry.path()});
  }
  std::sort(out.begin(), out.end(), [](const RunDir& a, const RunDir& b) { return a.path < b.path; });
  return out;
}

fs::path Store::label(const std::string& label) const {
  require_id("run name", label);
  return path_ / ".names" / std::to_string(::getuid()) / label;
}

fs::path Store::launch(const std::string& id) const {
  require_id("launch id", id);
  return path_ / ".launches" / id;
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

void Store::free_labels(const std::string& run, std::uint64_t owner) const {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path_ / ".names" / std::to_string(owner), ignored)) {
    if (fs::read_symlink(entry.path(), ignored).filename() == run) fs::remove(entry.path(), ignored);
  }
}

bool Store::claim_label(const std::string& name, const std::string& run) const {
  const fs::path link = label(name);
  // Several users share the store: the directory of labels is everyone's, as /tmp is.
  create_directories_durably(link.parent_path().parent_path());
  ::chmod(link.parent_path().parent_path().c_str(), 01777);
  create_directories_durably(link.parent_path());
  if (::symlink((fs::path("../..") / run).c_str(), link.c_str()) != 0) {
    if (errno == EEXIST) return false;
    fail("cannot create", link);
  }
  sync_directory(link.parent_path());
  return true;
}

void Store::disclaim_launch(const std::string& id) const {
  std::error_code ignored;
  fs::remove(path_ / ".launches" / ("." + launch(id).filename().string() + ".begun"), ignored);
}

bool Store::claim_launch(const std::string& id, const std::string& run) const {
  const fs::path file = launch(id);
  create_directories_durably(file.parent_path());
  ::chmod(file.parent_path().c_str(), 01777);
  return publish_once(file, run + "\n") == Published::first;
}

std::optional<FileLock> FileLock::try_take(const fs::path& path) {
  const int fd = open_lock(path);
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return FileLock(fd);
  const int error = errno;
  ::close(fd);
  if (error == EWOULDBLOCK) return std::nullopt;
  errno = error;
  fail("cannot lock", path);
}

FileLock FileLock::take(const fs::path& path) {
  const int fd = open_lock(path);
  while (::flock(fd, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const int error = errno;
    ::close(fd);
    errno = error;
    fail("cannot lock", path);
  }
  return FileLock(fd);
}

FileLock::FileLock(int fd) : fd_(fd) {
  for (auto& slot : held_locks) {
    int none = 0;
    if (slot.compare_exchange_strong(none, fd + 1)) return;
  }
}

void FileLock::drop_in_child() noexcept {
  for (auto& slot : held_locks) {
    if (const int held = slot.exchange(0)) ::close(held - 1);
  }
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}
FileLock::~FileLock() {
  if (fd_ < 0) return;
  for (auto& slot : held_locks) {
    int mine = fd_ + 1;
    if (slot.compare_exchange_strong(mine, 0)) break;
  }
  ::close(fd_);
}

}  // namespace flor::core
