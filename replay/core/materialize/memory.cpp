#include "core/materialize/memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "core/base/units_text.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::size_t number_in(const fs::path& file) {
  std::ifstream in(file);
  std::size_t value = unlimited;
  return in >> value ? value : unlimited;  // "max", or no such file
}

std::size_t of_machine(const fs::path& root) {
  std::ifstream in(root / "proc/meminfo");
  for (std::string key; in >> key; in.ignore(200, '\n')) {
    std::size_t kib = 0;
    if (key == "MemAvailable:" && in >> kib) return kib << 10;
  }
  return unlimited;
}

// Bytes in memory, at most and now, and the most of the address space.
struct OfProcess {
  std::size_t peak = 0, now = 0, addresses = 0;
};
OfProcess of_process(const fs::path& root) {
  OfProcess out;
  std::ifstream in(root / "proc/self/status");
  for (std::string key; in >> key; in.ignore(10000, '\n')) {
    std::size_t* to = key == "VmHWM:"    ? &out.peak
                      : key == "VmRSS:"  ? &out.now
                      : key == "VmPeak:" ? &out.addresses
                                         : nullptr;
    std::size_t kib = 0;
    if (to != nullptr && in >> kib) *to = kib << 10;
  }
  return out;
}

std::size_t of_addresses(const OfProcess& own, std::size_t ours) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  const std::size_t taken = own.addresses - std::min(own.addresses, ours);
  return limit.rlim_cur - std::min<std::size_t>(limit.rlim_cur, taken);
}

// Where a version of control groups keeps its numbers.
struct Version {
  const char *folder, *limit, *used, *inactive, *active;
};
constexpr Version second{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file", "active_file"};
constexpr Version first{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                        "total_inactive_file", "total_active_file"};

// The group of this process. Its lines are NUMBER:CONTROLLERS:/GROUP; version 2 has 0::/GROUP.
struct ControlGroup {
  fs::path path;
  Version version = second;
};
ControlGroup control_group(const fs::path& root) {
  ControlGroup out;
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto controllers = line.find(':') + 1;
    const auto path = line.find(':', controllers) + 1;
    if (controllers == 0 || path == 0) continue;
    const std::string names = "," + line.substr(controllers, path - controllers - 1) + ",";
    const fs::path group = fs::path(line.substr(path)).relative_path();
    if (names == ",,") out.path = group;
    // Where both are mounted, the memory belongs to the one of version 1 that has its controller.
    if (names.find(",memory,") != std::string::npos) return {group, first};
  }
  return out;
}

std::size_t cache_of_files(const fs::path& group, const Version& version) {
  std::ifstream in(group / "memory.stat");
  std::size_t sum = 0;
  std::size_t value = 0;
  for (std::string key; in >> key >> value;) {
    if (key == version.inactive || key == version.active) sum += value;
  }
  return sum;
}

}  // namespace

std::size_t available_memory(const fs::path& root, std::size_t ours) {
  std::size_t least = of_machine(root);
  const auto [path, version] = control_group(root);
  for (fs::path at = path;; at = at.parent_path()) {
    const fs::path group = root / version.folder / at;
    const std::size_t limit = number_in(group / version.limit);
    const std::size_t used = number_in(group / version.used);
    if (limit != unlimited && used != unlimited) {
      const std::size_t needed = used - std::min(used, cache_of_files(group, version));
      least = std::min(least, limit > needed ? limit - needed : 0);
    }
    if (at.empty()) break;
  }
  const OfProcess own = of_process(root);
  const std::size_t again = own.peak - std::min(own.peak, own.now + ours);
  return std::min(least - std::min(least, again), of_addresses(own, ours));
}

std::size_t room_for_copy(CopyFrom from, std::size_t available) {
  return from == CopyFrom::device ? available / 4 * 3 : available / 3;
}

std::string why_no_copy(std::size_t bytes, CopyFrom from, std::size_t available) {
  const bool on_device = from == CopyFrom::device;
  if (bytes <= room_for_copy(from, available)) return "";
  return std::string("a copy of the state") + (on_device ? " on the GPU" : "") + " takes " +
         bytes_text(bytes) + ", and only " + bytes_text(available) +
         " of memory are left beside what training takes at its most, of which it keeps " +
         (on_device ? "a quarter" : "two thirds") + "; ask for more (srun --mem)" +
         (on_device
              ? ""
              : ", or let training wait for each checkpoint, which needs no copy (materializer inline)");
}

}  // namespace flor::core
