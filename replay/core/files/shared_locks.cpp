#include "core/files/shared_locks.h"

#include <fcntl.h>

#include <fstream>
#include <sstream>

#include "core/files/descriptor.h"
#include "core/process/above_streams.h"

namespace flor::core {
namespace {

bool has_option(const std::string& options, const std::string& wanted) {
  return ("," + options + ",").find("," + wanted + ",") != std::string::npos;
}

// Returns the id of the mount that an open file lies on. Device numbers would not do: on some network file
// systems those of files and of mounts differ.
std::string mount_of(int file) {
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(file));
  for (std::string key, value; info >> key >> value;) {
    if (key == "mnt_id:") return value;
  }
  return "";
}

}  // namespace

bool are_locks_shared(const std::string& type, const std::string& options) {
  if (type == "nfs" || type == "nfs4") {
    return !has_option(options, "nolock") && !has_option(options, "local_lock=all") &&
           !has_option(options, "local_lock=flock");
  }
  if (type == "lustre") return has_option(options, "flock");
  return type == "gpfs" || type == "ceph";
}

bool has_shared_locks(const std::filesystem::path& path) {
  const Descriptor directory(above_streams(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
  const std::string mount = directory ? mount_of(directory.get()) : "";
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; !mount.empty() && std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word) || word != mount) continue;
    while (words >> word && word != "-") {
    }
    std::string type, source, options;
    return words >> type >> source >> options && are_locks_shared(type, options);
  }
  return false;
}

}  // namespace flor::core
