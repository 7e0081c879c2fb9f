#include "core/config/tools.h"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <sstream>

#include "core/config/settings.h"
#include "core/files/safe_path.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;

const std::string removed = " (deleted)";

bool is_library_directory(const fs::path& path) {
  return path.filename() == "lib" || path.filename() == "lib64";
}

bool can_be_started(const fs::path& path) {
  std::error_code ignored;
  return path.is_absolute() && !fs::is_directory(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

// Returns the path of libflor, or of this program where libflor is linked into it. dladdr() would not do: it
// gives the name at loading, which may be relative to a directory that was left long ago, or be another file
// by now.
fs::path own_binary() {
  const auto address = reinterpret_cast<std::uintptr_t>(&find_tool);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    fs::path file = mapped_file(line, address);
    if (!file.empty()) return file;
  }
  return {};
}

}  // namespace

std::vector<fs::path> directories_beside(const fs::path& binary) {
  const fs::path here = binary.parent_path();
  std::vector<fs::path> out{here};
  if (is_library_directory(here)) {
    out.push_back(here.parent_path() / "bin");
  } else if (is_library_directory(here.parent_path())) {
    out.push_back(here.parent_path().parent_path() / "bin");
  }
  return out;
}

fs::path mapped_file(const std::string& line, std::uintptr_t address) {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  const char* last = line.data() + line.size();
  const auto first = std::from_chars(line.data(), last, begin, 16);
  if (first.ec != std::errc() || first.ptr == last || *first.ptr != '-') return {};
  const auto second = std::from_chars(first.ptr + 1, last, end, 16);
  if (second.ec != std::errc() || address < begin || address >= end) return {};
  // Access, offset, device and inode stand between; none of them has a slash.
  const auto at = line.find('/', static_cast<std::size_t>(second.ptr - line.data()));
  if (at == std::string::npos) return {};
  const bool is_gone = line.size() > removed.size() &&
                       line.compare(line.size() - removed.size(), removed.size(), removed) == 0;
  return is_gone ? fs::path() : fs::path(line.substr(at));
}

fs::path safe_directory_of(const fs::path& binary) {
  const fs::path directory = binary.parent_path();
  return is_closed_directory(directory, makers_of(binary)) ? directory : fs::path();
}

std::string find_tool(const std::string& name) {
  if (const auto bin = environment_variable("FLOR_BIN")) {
    if (can_be_started(fs::path(*bin) / name)) return fs::path(*bin) / name;
  }
  const fs::path binary = own_binary();
  struct stat info = {};
  if (!binary.empty() && ::lstat(binary.c_str(), &info) == 0) {
    for (const auto& directory : directories_beside(binary)) {
      const fs::path tool = directory / name;
      // The owner of libflor already decides what this process does.
      if (can_be_started(tool) && is_safe_path(tool, Makers{{info.st_uid}, {}})) return tool;
    }
  }
  std::istringstream path(environment_variable("PATH").value_or(""));
  for (std::string part; std::getline(path, part, ':');) {
    if (can_be_started(fs::path(part) / name)) return fs::path(part) / name;
  }
  return "";
}

}  // namespace flor::core
