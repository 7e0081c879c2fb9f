#include "core/materialize/memory.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "core/base/units_text.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t unlimited = unlimited_memory;

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

void read_process(const fs::path& root, MemoryReading& out) {
  std::size_t all = 0;
  std::size_t anonymous = unlimited;
  std::size_t shared = 0;
  const std::map<std::string, std::size_t*> lines = {
      {"VmHWM:", &out.peak},       {"VmRSS:", &all},
      {"VmSize:", &out.addresses}, {"VmPeak:", &out.most_addresses},
      {"RssAnon:", &anonymous},    {"RssFile:", &out.files},
      {"RssShmem:", &shared}};
  std::ifstream in(root / "proc/self/status");
  for (std::string key; in >> key; in.ignore(10000, '\n')) {
    const auto line = lines.find(key);
    std::size_t kib = 0;
    if (line != lines.end() && in >> kib) *line->second = kib << 10;
  }
  out.now = anonymous == unlimited ? all : anonymous + shared;
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

MemoryReading read_memory(const fs::path& root) {
  MemoryReading out;
  out.machine = of_machine(root);
  read_process(root, out);
  const auto [path, version] = control_group(root);
  for (fs::path at = path;; at = at.parent_path()) {
    MemoryGroup group{root / version.folder / at, unlimited, 0};
    const std::size_t used = number_in(group.path / version.used);
    if (used != unlimited) {
      group.limit = number_in(group.path / version.limit);
      if (group.limit > unlimited / 4) group.limit = unlimited;  // so version 1 says that there is none
      group.needed = used - std::min(used, cache_of_files(group.path, version));
      out.groups.push_back(std::move(group));
    }
    if (at.empty()) break;
  }
  return out;
}

std::size_t memory_of_task() {
  // Slurm gives memory in MB. SLURM_STEP_TASKS_PER_NODE is a list as 2(x3),1, of which the first number is
  // read.
  const auto number = [](const char* name) -> std::size_t {
    const char* text = std::getenv(name);
    return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
  };
  std::size_t mb = number("SLURM_MEM_PER_NODE");
  if (mb == 0) mb = number("SLURM_MEM_PER_CPU") * number("SLURM_CPUS_ON_NODE");
  if (mb == 0) return unlimited;
  return (mb << 20) / std::max<std::size_t>(1, number("SLURM_STEP_TASKS_PER_NODE"));
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
