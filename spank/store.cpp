#include "store.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <system_error>

#include "core/base/valid_id.h"
#include "core/config/conf.h"
#include "core/files/durable.h"
#include "core/files/shared_directory.h"
#include "core/files/trusted_file.h"
#include "launch.h"

namespace flor::spank {
namespace {

constexpr const char* kNames = ".names";
constexpr const char* kJobs = "jobs";    // in a run's directory: RunDir::jobs()
constexpr std::size_t kMostJobs = 4096;  // bytes of it

// Returns the value of `store` in a flor.conf; "" if there is none.
std::string configured_store(const std::string& file) {
  std::ifstream input(file);
  const std::string text{std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
  const auto values = core::parse_conf(text);
  const auto store = values.find("store");
  return store == values.end() ? "" : store->second;
}

std::string home_of(const Environment& environment) {
  std::string home = environment("HOME");
  if (!home.empty()) return home;
  // srun --export=NONE leaves no HOME.
  std::array<char, 16384> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  const int rc = getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found);
  return rc == 0 && found != nullptr ? found->pw_dir : "/";
}

std::string absolute(const std::string& path, const Environment& environment) {
  if (path == "~" || path.rfind("~/", 0) == 0) return home_of(environment).append(path, 1);
  if (path[0] == '/') return path;
  std::array<char, 4096> here{};
  return getcwd(here.data(), here.size()) == nullptr ? path : std::string(here.data()) + "/" + path;
}

std::string named(const Store& store) {
  return "store " + store.path + " (" + store.origin + ")";
}

// Returns the text for the user of an exception from the core.
Problem problem_of(const std::exception& failure, const Store& store, const char* what) {
  const auto* error = dynamic_cast<const std::system_error*>(&failure);
  const std::string why = error != nullptr ? error->code().message() : failure.what();
  return named(store) + " " + what + ": " + why +
         (error != nullptr ? "; choose another with --flor-store" : "");
}

// Returns the run that a label of the user names: the last component of the link's target. Returns "" if
// there is no such label.
std::string labelled_run(const Store& store, const std::string& label) {
  const core::Descriptor labels = core::open_user_directory(store.path, kNames);
  struct stat info = {};
  if (!labels || fstatat(labels.get(), label.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
      info.st_uid != geteuid())
    return "";
  std::array<char, 4096> buffer{};
  const ssize_t size = readlinkat(labels.get(), label.c_str(), buffer.data(), buffer.size());
  if (size <= 0) return "";
  const std::string target(buffer.data(), static_cast<std::size_t>(size));
  return target.substr(target.rfind('/') + 1);
}

// Returns true if the same job recorded the run, in an earlier step or before it was requeued, or another
// task of the same array. Then the label belongs to the job itself, and the library reports a label that is
// taken. The run itself tells: to look through the user's launches, of which there may be thousands, would
// cost each task of an array as many calls to the file server.
bool recorded_by_same_job(const Store& store, const std::string& run, const std::string& launch,
                          const std::string& array) try {
  if (!core::is_valid_id(run)) return false;
  const std::string path = store.path + "/" + run + "/" + kJobs;
  const core::Descriptor file = core::open_regular(path);
  if (core::is_foreign(file)) return false;
  const std::string lines = "\n" + core::read_regular(file, path, kMostJobs);
  const auto has = [&lines](const std::string& job) {
    return !job.empty() && lines.find("\n" + job + "\n") != std::string::npos;
  };
  const std::string job = job_of_launch(launch);
  return has(job.substr(0, job.size() - 1)) || has(array);
} catch (const std::system_error& failure) {
  // A run of an earlier version does not tell.
  if (failure.code() == std::errc::no_such_file_or_directory) return false;
  throw;
}

}  // namespace

Store resolve_store(const std::optional<std::string>& flag, const Environment& environment) {
  if (flag) return {absolute(*flag, environment), "--flor-store"};
  std::string path = environment("FLOR_STORE");
  if (!path.empty()) return {absolute(path, environment), "FLOR_STORE"};
  std::string config = environment("XDG_CONFIG_HOME");
  if (config.empty()) config = home_of(environment) + "/.config";
  for (const std::string& file : {config + "/flor/flor.conf", std::string("/etc/flor/flor.conf")}) {
    path = configured_store(file);
    if (!path.empty()) return {absolute(path, environment), file};
  }
  return {home_of(environment) + "/.flor", "the default"};
}

Problem create_store(const Store& store) {
  if (mkdir(store.path.c_str(), 0777) == 0) return "";
  const int error = errno;
  struct stat status = {};
  if (error == EEXIST && stat(store.path.c_str(), &status) == 0) {
    return S_ISDIR(status.st_mode) ? ""
                                   : named(store) + " is not a directory; choose another with --flor-store";
  }
  if (error == ENOENT) {
    return named(store) +
           ": its parent directory does not exist; create it or choose another store with --flor-store";
  }
  return named(store) + " cannot be created: " + std::strerror(error) + "; choose another with --flor-store";
}

Problem check_writable(const Store& store) try {
  core::prove_writable(store.path);
  return "";
} catch (const std::exception& failure) {
  return problem_of(failure, store, "cannot be written");
}

Problem begin_launch(const Store& store, const std::string& launch,
                     const std::optional<std::string>& program) try {
  const core::Descriptor launches = core::make_user_directory(store.path, kLaunches);
  // No process of this launch has run yet. So a file with its name belongs to an older job, whose number the
  // controller has used again. The library would think that the launch was recorded.
  unlinkat(launches.get(), launch.c_str(), 0);
  const std::string begun = begun_name(launch);
  unlinkat(launches.get(), begun.c_str(), 0);
  if (!program) return "";
  const core::Descriptor mark = core::create_new(launches.get(), begun);
  // Not said: without its text the mark is that of an earlier version, and the store has just been written.
  (void)core::step::write(mark.get(), program->data(), program->size(), 0);
  return "";
} catch (const std::exception& failure) {
  return problem_of(failure, store, "cannot be used");
}

bool recorded_nothing(const Store& store, const std::string& launch, bool ended_by_itself) {
  const core::Descriptor launches = core::open_user_directory(store.path, kLaunches);
  const std::string begun = begun_name(launch);
  struct stat info = {};
  if (!launches || fstatat(launches.get(), begun.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (ended_by_itself) unlinkat(launches.get(), begun.c_str(), 0);
  return fstatat(launches.get(), launch.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0;
}

Problem check_label_free(const Store& store, const std::string& label, const std::string& launch,
                         const std::string& array) try {
  const std::string run = labelled_run(store, label);
  if (run.empty() || recorded_by_same_job(store, run, launch, array)) return "";
  return "--flor-name=" + label + ": already the name of run " + run + " in " + named(store) +
         "; choose another name";
} catch (const std::exception& failure) {
  return problem_of(failure, store, "cannot be used");
}

std::string resolve_replay(const Store& store, const std::string& replay) {
  const auto slash = replay.find('/');
  const std::string rest = slash == std::string::npos ? "" : replay.substr(slash);
  std::string run = replay.substr(0, slash);
  const auto exists = [&] { return access((store.path + "/" + run + "/run.json").c_str(), R_OK) == 0; };
  // Like the library (core::Store::find), prefer a label: any user can create a directory with a given id.
  if (const std::string labelled = labelled_run(store, run); !labelled.empty()) {
    if (!core::is_valid_id(labelled) || core::directory_owner(store.path + "/" + labelled) != geteuid())
      return "";
    run = labelled;
  }
  return exists() ? run + rest : "";
}

}  // namespace flor::spank
