#include "store.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

namespace flor::spank {
namespace {

std::string trimmed(const std::string& text) {
  const char* blank = " \t\r";
  const auto first = text.find_first_not_of(blank);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// The key `store` of a flor.conf; empty if there is none.
std::string configured_store(const std::string& file) {
  std::ifstream input(file);
  for (std::string line; std::getline(input, line);) {
    const auto equals = line.find('=');
    if (equals == std::string::npos || trimmed(line.substr(0, equals)) != "store") continue;
    return trimmed(line.substr(equals + 1, line.find('#', equals) - equals - 1));
  }
  return "";
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

std::string link_target(const std::string& path) {
  std::array<char, 4096> buffer{};
  const ssize_t size = readlink(path.c_str(), buffer.data(), buffer.size());
  if (size <= 0) return "";
  const std::string target(buffer.data(), static_cast<std::size_t>(size));
  return target.substr(target.rfind('/') + 1);
}

std::string label_path(const Store& store, uid_t user, const std::string& label) {
  return store.path + "/.names/" + std::to_string(user) + "/" + label;
}

// Did the same job record the run, in an earlier step or before it was requeued? Then the label is the job's
// own, and the library says that it is taken.
bool recorded_by_same_job(const Store& store, const std::string& run, const std::string& launch) {
  const std::string job = launch.substr(0, launch.find('.') + 1);
  const std::string folder = store.path + "/.launches/";
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(folder.c_str()), closedir);
  if (directory == nullptr) return false;
  while (const dirent* entry = readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name.rfind(job, 0) != 0) continue;
    std::string recorded;
    std::getline(std::ifstream(std::string(folder).append(name)), recorded);
    if (trimmed(recorded) == run) return true;
  }
  return false;
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

Problem write_file(const std::string& path) {
  const std::array<char, 4096> block{};
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return std::strerror(errno);
  std::size_t done = 0;
  int error = 0;
  while (done < block.size() && error == 0) {
    const ssize_t written = write(file, block.data() + done, block.size() - done);
    if (written > 0) {
      done += static_cast<std::size_t>(written);
    } else if (written == 0 || errno != EINTR) {
      error = written == 0 ? ENOSPC : errno;
    }
  }
  if (error == 0 && fsync(file) != 0) error = errno;
  // Network file systems report a full disk as late as here.
  if (close(file) != 0 && error == 0) error = errno;
  return error == 0 ? "" : std::strerror(error);
}

Problem check_writable(const Store& store) {
  const std::string path = store.path + "/.writable.tmp." + std::to_string(getpid());
  const Problem problem = write_file(path);
  unlink(path.c_str());
  return problem.empty()
             ? ""
             : named(store) + " cannot be written: " + problem + "; choose another with --flor-store";
}

Problem check_label_free(const Store& store, uid_t user, const std::string& label,
                         const std::string& launch) {
  const std::string run = link_target(label_path(store, user, label));
  if (run.empty() || recorded_by_same_job(store, run, launch)) return "";
  return "--flor-name=" + label + ": already the name of run " + run + " in " + named(store) +
         "; choose another name";
}

std::string resolve_replay(const Store& store, uid_t user, const std::string& replay) {
  const auto slash = replay.find('/');
  const std::string rest = slash == std::string::npos ? "" : replay.substr(slash);
  std::string run = replay.substr(0, slash);
  const auto exists = [&] { return access((store.path + "/" + run + "/run.json").c_str(), R_OK) == 0; };
  if (exists()) return run + rest;
  run = link_target(label_path(store, user, run));
  return is_id(run) && exists() ? run + rest : "";
}

}  // namespace flor::spank
