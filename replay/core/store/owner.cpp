#include "core/store/owner.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/base/uninterrupted.h"
#include "core/config/inherited.h"
#include "core/config/settings.h"
#include "core/files/durable.h"
#include "core/files/existence.h"
#include "core/files/shared_locks.h"
#include "core/files/trusted_file.h"
#include "core/store/liveness.h"

namespace flor::core {
namespace {

constexpr std::size_t most_of_an_owner = 65536;  // bytes
constexpr std::size_t most_digits = 9;
const std::string prefix = "owner.";
const std::string suffix = ".json";

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string first_line_of(const fs::path& path) {
  try {
    const std::string text = read_file(path, most_of_an_owner);
    return text.substr(0, text.find('\n'));
  } catch (const std::exception&) {
    return "";
  }
}

// std::nullopt where /proc does not tell.
std::optional<int64_t> parent_of(int64_t pid) {
  // "PID (NAME) STATE PARENT ..."
  const std::string stat = first_line_of("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos) return std::nullopt;
  const std::size_t parent = name_end + 4;
  return parse_number<int64_t>(stat.substr(parent, stat.find(' ', parent) - parent));
}

fs::path owner_file(const RunDir& run, int64_t attempt) {
  return run.path / (prefix + std::to_string(attempt) + suffix);
}

// Returns N of owner.N.json; -1 for any other name.
int64_t attempt_in(const std::string& name) {
  if (name.size() <= prefix.size() + suffix.size() || name.rfind(prefix, 0) != 0) return -1;
  const std::size_t digits = name.size() - prefix.size() - suffix.size();
  if (digits > most_digits || name.substr(prefix.size() + digits) != suffix) return -1;
  return parse_number<int64_t>(name.substr(prefix.size(), digits)).value_or(-1);
}

int64_t newest_attempt(const RunDir& run) {
  int64_t newest = -1;
  std::error_code error;
  fs::directory_iterator entries(run.path, error);
  // What a file server hides is no attempt that has ended.
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::permission_denied)
    throw std::system_error(error, "cannot read " + run.path.string());
  for (const auto& entry : entries) newest = std::max(newest, attempt_in(entry.path().filename().string()));
  return newest;
}

void empty(int file) {
  if (uninterrupted([file] { return ::ftruncate(file, 0); }) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot empty the run's owner file");
  step::sync(file);
}

// The process of that attempt may still live, on a node that was cut off. Its next beat tells it.
void end_attempt(const RunDir& run, int64_t attempt) {
  const fs::path path = owner_file(run, attempt);
  std::error_code ignored;
  if (fs::exists(path, ignored)) empty(open_regular_for(path, O_WRONLY).get());
}

}  // namespace

std::optional<std::uint64_t> start_time_in(const std::string& stat) {
  // Field 2, the program's name, may contain blanks and brackets.
  std::size_t at = stat.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t end = stat.find_first_of(" \n", at + 1);
  return parse_number<std::uint64_t>(stat.substr(at + 1, end == std::string::npos ? end : end - at - 1));
}

Owner this_process(const fs::path& directory) {
  Owner out;
  out.host = host_name();
  out.boot = first_line_of("/proc/sys/kernel/random/boot_id");
  std::error_code ignored;
  out.pids = fs::read_symlink("/proc/self/ns/pid", ignored).string();
  out.pid = ::getpid();
  out.start = start_time_in(first_line_of("/proc/self/stat")).value_or(0);
  out.uid = ::geteuid();
  struct stat info = {};
  out.device = ::stat(directory.c_str(), &info) == 0 ? info.st_dev : 0;
  // The plugin sets FLOR_CLUSTER; Slurm does not name the cluster in every step.
  const auto cluster = environment_variable("FLOR_CLUSTER");
  out.cluster = cluster ? *cluster : environment_variable("SLURM_CLUSTER_NAME").value_or("");
  out.job = environment_variable("SLURM_JOB_ID").value_or("");
  out.step = environment_variable("SLURM_STEP_ID").value_or("");
  const auto restart = slurm_variable("SLURM_RESTART_COUNT");
  out.restart = parse_number<int64_t>(restart.value_or("0")).value_or(0);
  out.shared_locks = has_shared_locks(directory);
  return out;
}

Json to_json(const Owner& owner) {
  return {
      {"format", 1},
      {"host", owner.host},
      {"boot", owner.boot},
      {"pids", owner.pids},
      {"pid", owner.pid},
      {"start", owner.start},
      {"device", owner.device},
      {"uid", owner.uid},
      {"slurm",
       {{"cluster", owner.cluster}, {"job", owner.job}, {"step", owner.step}, {"restart", owner.restart}}},
      {"shared_locks", owner.shared_locks}};
}

Owner owner_from(const Json& json) {
  Owner out;
  out.host = field<std::string>(json, "host", "");
  out.boot = field<std::string>(json, "boot", "");
  out.pids = field<std::string>(json, "pids", "");
  out.pid = field<int64_t>(json, "pid", 0);
  out.start = field<std::uint64_t>(json, "start", 0);
  out.device = field<std::uint64_t>(json, "device", 0);
  out.uid = field<int64_t>(json, "uid", -1);
  const Json slurm = field<Json>(json, "slurm", Json::object());
  out.cluster = field<std::string>(slurm, "cluster", "");
  out.job = field<std::string>(slurm, "job", "");
  out.step = field<std::string>(slurm, "step", "");
  out.restart = field<int64_t>(slurm, "restart", 0);
  out.shared_locks = field(json, "shared_locks", false);
  return out;
}

bool is_started_by(int64_t ancestor) {
  if (ancestor <= 1) return false;
  for (std::optional<int64_t> pid = ::getppid(); pid && *pid > 1; pid = parent_of(*pid)) {
    if (*pid == ancestor) return true;
  }
  return false;
}

bool is_started_beside(int64_t pid) {
  if (pid <= 1 || pid > std::numeric_limits<pid_t>::max() || pid == ::getpid()) return false;
  if (::getpgid(static_cast<pid_t>(pid)) == ::getpgrp()) return true;
  // Process 1 takes in all whose parents have ended.
  return ::getppid() > 1 && parent_of(pid) == ::getppid();
}

bool sees_locks_of(const Owner& owner, const Owner& here) {
  return owner.boot == here.boot && owner.device != 0 && owner.device == here.device;
}

std::optional<bool> is_running(const Owner& owner) {
  if (owner.pid <= 0 || owner.pid > std::numeric_limits<pid_t>::max() || owner.start == 0)
    return std::nullopt;
  const std::string stat = first_line_of("/proc/" + std::to_string(owner.pid) + "/stat");
  if (const auto start = start_time_in(stat)) {
    // The main thread has ended, but other threads of the process may still write. Its lock tells.
    if (stat[stat.rfind(')') + 2] == 'Z') return std::nullopt;
    return *start == owner.start;
  }
  // Where /proc hides other users' processes (hidepid), only kill() tells that there is none.
  if (::kill(static_cast<pid_t>(owner.pid), 0) != 0 && errno == ESRCH) return false;
  return std::nullopt;
}

std::optional<FoundOwner> find_owner(const RunDir& run) {
  const int64_t attempt = newest_attempt(run);
  if (attempt < 0) return std::nullopt;
  FoundOwner out;
  out.path = owner_file(run, attempt);
  const std::string text = read_file(out.path, most_of_an_owner);
  struct stat info = {};
  // On NFS, opening a file refreshes its attributes.
  const Descriptor file = open_regular(out.path);
  if (::fstat(file.get(), &info) == 0)
    out.beat = static_cast<double>(info.st_mtim.tv_sec) + 1e-9 * static_cast<double>(info.st_mtim.tv_nsec);
  out.ended = text.empty();
  out.owner = owner_from(parse_json(text));
  return out;
}

void end_owner(const RunDir& run, int64_t attempt) {
  const int64_t newest = newest_attempt(run);
  const fs::path path = owner_file(run, newest < 0 ? attempt : newest);
  empty(open_regular_for(path, newest < 0 ? O_WRONLY | O_CREAT : O_WRONLY).get());
}

OwnerFile OwnerFile::create(const RunDir& run, int64_t attempt) {
  const fs::path path = owner_file(run, attempt);
  const std::string text = json_text(to_json(this_process(run.path))) + "\n";
  if (publish_once(path, text) == Published::different) {
    // A recorder may have died after it wrote this file, and before the manifest that counts its attempt.
    if (liveness_while_locked(run).life != Life::dead) throw Error("another process records run " + run.id());
    write_durably(path, text);
  }
  // Opens the file before reading it. If another resumer replaces the file later, this descriptor's link is
  // gone, and the next beat() sees that.
  Descriptor file = open_regular_for(path, O_WRONLY);
  if (read_file(path) != text) throw Error("another process records run " + run.id());
  end_attempt(run, attempt - 1);
  return {std::move(file), path, text};
}

bool OwnerFile::beat() const noexcept {
  if (!file_) return true;
  // A null pointer for the times makes the file server take its own clock. Its answer also shows what another
  // node did to the file, which an NFS client would learn a minute later.
  if (::futimens(file_.get(), nullptr) != 0 && errno == ESTALE) return beat_by_name();
  struct stat info = {};
  return ::fstat(file_.get(), &info) != 0 || (info.st_nlink > 0 && info.st_size > 0);
}

// A file handle is stale where the file was replaced, and also where another file server took over.
bool OwnerFile::beat_by_name() const noexcept {
  ::utimensat(AT_FDCWD, path_.c_str(), nullptr, 0);
  try {
    return read_file(path_) == text_;
  } catch (const std::exception&) {
    return !is_absent(path_);
  }
}

void OwnerFile::end() const noexcept {
  if (file_ && uninterrupted([this] { return ::ftruncate(file_.get(), 0); }) == 0) step::sync(file_.get());
}

}  // namespace flor::core
