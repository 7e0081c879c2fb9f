#include "core/materialize/memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

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

fs::path control_group(const fs::path& root) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("0::/", 0) == 0) return line.substr(4);
  }
  return {};
}

}  // namespace

std::size_t available_memory(const fs::path& root) {
  std::size_t least = of_machine(root);
  const fs::path top = root / "sys/fs/cgroup";
  for (fs::path group = control_group(root);; group = group.parent_path()) {
    const std::size_t limit = number_in(top / group / "memory.max");
    const std::size_t used = number_in(top / group / "memory.current");
    if (limit != unlimited && used != unlimited) least = std::min(least, limit > used ? limit - used : 0);
    if (group.empty()) return least;
  }
}

}  // namespace flor::core
