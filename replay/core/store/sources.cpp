#include "core/store/sources.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "core/files/durable.h"
#include "core/files/safe_path.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;

constexpr const char* section_name = "flor_sources";

template <class T>
const T* view(const std::string& image, std::uint64_t offset) {
  if (offset > image.size() || image.size() - offset < sizeof(T)) return nullptr;
  return reinterpret_cast<const T*>(image.data() + offset);
}

// Returns the bytes of the section of that name in a 64-bit ELF image; empty where there is none.
std::string section(const std::string& image, const std::string& wanted) {
  const auto* header = view<Elf64_Ehdr>(image, 0);
  if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64) {
    return "";
  }
  auto section_at = [&](std::uint64_t index) {
    return view<Elf64_Shdr>(image, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto* names = section_at(header->e_shstrndx);
  if (names == nullptr) return "";
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto* entry = section_at(i);
    if (entry == nullptr) return "";
    const std::uint64_t name = names->sh_offset + entry->sh_name;
    if (name >= image.size() ||
        image.compare(name, wanted.size() + 1, wanted.c_str(), wanted.size() + 1) != 0) {
      continue;
    }
    if (entry->sh_offset > image.size() || image.size() - entry->sh_offset < entry->sh_size) return "";
    return image.substr(entry->sh_offset, entry->sh_size);
  }
  return "";
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool belongs_to_system(const std::string& name) {
  return is_file(fs::path("/usr/include") / name) || is_file(fs::path("/usr/local/include") / name);
}

bool is_below(const fs::path& path, const fs::path& directory) {
  const fs::path rest = path.lexically_normal().lexically_relative(directory);
  return !rest.empty() && *rest.begin() != "..";
}

// Where a name leads. A file that is withheld ends the search, as it would for a compiler: another file of
// that name is not what the program was built from.
struct Found {
  std::optional<fs::path> path;
  bool withheld = false;
  bool exists() const { return path || withheld; }
};

// Finds sources by their names. A user who could put a file where Flor looks for one could have any file of
// this user copied into the record, by an #include of its path. So the finder takes only what root, this user
// or the program's makers alone could have put there.
class SourceFinder {
 public:
  explicit SourceFinder(const fs::path& program) : program_(program), makers_(makers_of(program)) {}

  // A relative name starts at the directory of the compilation, which is not recorded. So this searches the
  // program's directory, those above it, and the working directory.
  Found unit(const fs::path& name) {
    if (name.is_absolute()) return taken(name);
    for (const auto& directory : project_of(program_.parent_path(), most_up_from_program)) {
      if (Found found = searched(directory, name); found.exists()) return found;
    }
    std::error_code error;
    return searched(fs::current_path(error), name);
  }

  // Searches a quoted include beside the file that names it, then in the usual places of a project around it.
  Found include(const fs::path& name, const fs::path& includer) {
    if (name.is_absolute()) return {};
    const auto directories = project_of(includer.parent_path(), most_up_from_includer);
    for (const auto& directory : directories) {
      for (const char* below : {"", "include", "src"}) {
        if (!is_below(directory / below / name, directories.back())) continue;
        if (Found found = searched(directory, below / name); found.exists()) return found;
      }
    }
    return {};
  }

  // What was found and not taken.
  const std::set<std::string>& withheld() const { return withheld_; }

 private:
  static constexpr int most_up_from_program = 64;
  static constexpr int most_up_from_includer = 3;

  static uid_t owner_of(const fs::path& path) {
    struct stat info = {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_uid : ::geteuid();
  }

  // Can the members of a group that made the program put files there?
  bool is_a_teams(const fs::path& directory) const {
    struct stat info = {};
    return ::stat(directory.c_str(), &info) == 0 && (info.st_mode & S_IWGRP) != 0 &&
           makers_.groups.count(info.st_gid) != 0;
  }

  // In a container another user's file can look like root's.
  static bool may_be_anyones(const fs::path& path) {
    struct stat info = {};
    return ::lstat(path.c_str(), &info) != 0 || is_unmapped(info.st_uid);
  }

  // Returns `directory`, and those above it as long as they have the same owner or are the team's, and no one
  // else can put a file there.
  std::vector<fs::path> project_of(const fs::path& directory, int most_up) const {
    std::vector<fs::path> out{directory};
    while (static_cast<int>(out.size()) <= most_up) {
      const fs::path above = out.back().parent_path();
      const bool is_same_project = owner_of(above) == owner_of(directory) || is_a_teams(above);
      if (above == out.back() || !is_same_project || !is_closed_directory(above, makers_)) break;
      out.push_back(above);
    }
    return out;
  }

  Found searched(const fs::path& directory, const fs::path& name) {
    const fs::path path = directory / name;
    if (!is_file(path)) return {};
    return is_closed_directory(path.parent_path(), makers_) ? taken(path) : withhold(path);
  }

  Found taken(const fs::path& path) {
    if (!is_file(path)) return {};
    std::error_code error;
    const fs::path canonical = fs::canonical(path, error);
    const bool is_ours =
        !error && is_safe_path(path, makers_) && !may_be_anyones(path) && !may_be_anyones(canonical);
    return is_ours ? Found{canonical, false} : withhold(path);
  }

  Found withhold(const fs::path& path) {
    withheld_.insert(path.lexically_normal().string());
    return {std::nullopt, true};
  }

  fs::path program_;
  Makers makers_;
  std::set<std::string> withheld_;
};

// Who can read the file: the directories above it count as well as its own mode.
Readers readers_of(const fs::path& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return {};
  Readers out{info.st_gid, (info.st_mode & S_IRGRP) != 0, (info.st_mode & S_IROTH) != 0};
  for (fs::path at = path; at != at.parent_path();) {
    at = at.parent_path();
    struct stat above = {};
    if (::stat(at.c_str(), &above) != 0) return {};
    const bool enter_others = (above.st_mode & S_IXOTH) != 0;
    const bool enter_group = above.st_gid == out.group_id ? (above.st_mode & S_IXGRP) != 0 : enter_others;
    out.others = out.others && enter_others;
    out.group = out.group && enter_group;
  }
  return out;
}

}  // namespace

std::vector<std::string> translation_units(const std::string& image) {
  const std::string bytes = section(image, section_name);
  std::set<std::string> units;
  for (std::size_t at = 0; at < bytes.size();) {
    // Padding between the strings reads as empty names.
    const std::string name(bytes.c_str() + at);
    if (!name.empty()) units.insert(name);
    at += name.size() + 1;
  }
  return {units.begin(), units.end()};
}

std::vector<std::string> quoted_includes(const std::string& text) {
  std::vector<std::string> out;
  bool in_comment = false;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (in_comment) {
      const auto close = line.find("*/");
      if (close == std::string::npos) continue;
      line.erase(0, close + 2);
    }
    const auto first = line.find_first_not_of(" \t");
    if (first != std::string::npos && line[first] == '#') {
      const auto word = line.find_first_not_of(" \t", first + 1);
      const auto quote = line.find('"');
      const auto close = quote == std::string::npos ? quote : line.find('"', quote + 1);
      if (word != std::string::npos && line.compare(word, 7, "include") == 0 && close != std::string::npos &&
          line.find('<') > quote) {
        out.push_back(line.substr(quote + 1, close - quote - 1));
      }
    }
    const auto open = line.rfind("/*");
    in_comment = open != std::string::npos && line.find("*/", open) == std::string::npos &&
                 line.rfind("//", open) == std::string::npos && line.rfind('"', open) == std::string::npos;
  }
  return out;
}

SourceScan scan_sources(const fs::path& binary) {
  SourceScan scan;
  try {
    const fs::path program = fs::canonical(binary);
    const auto built = fs::last_write_time(program);
    SourceFinder finder(program);
    std::set<fs::path> seen;
    std::vector<fs::path> open;
    for (const auto& name : translation_units(read_named_file(program))) {
      if (const Found unit = finder.unit(name); unit.path) {
        open.push_back(*unit.path);
      } else {
        scan.unresolved.push_back(name);
      }
    }
    while (!open.empty()) {
      const fs::path path = open.back();
      open.pop_back();
      if (!seen.insert(path).second) continue;
      scan.files.push_back(
          {path.string(), read_named_file(path), fs::last_write_time(path) > built, readers_of(path)});
      for (const auto& name : quoted_includes(scan.files.back().text)) {
        const Found include = finder.include(name, path);
        if (include.path) {
          open.push_back(*include.path);
        } else if (include.withheld || fs::path(name).is_absolute() || !belongs_to_system(name)) {
          scan.unresolved.push_back(name);
        }
      }
    }
    scan.withheld.assign(finder.withheld().begin(), finder.withheld().end());
  } catch (const std::exception& problem) {
    scan.unresolved.emplace_back(problem.what());
  }
  std::sort(scan.files.begin(), scan.files.end(),
            [](const SourceText& a, const SourceText& b) { return a.path < b.path; });
  std::sort(scan.unresolved.begin(), scan.unresolved.end());
  scan.unresolved.erase(std::unique(scan.unresolved.begin(), scan.unresolved.end()), scan.unresolved.end());
  return scan;
}

}  // namespace flor::core
