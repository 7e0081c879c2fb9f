#include "core/sources/sources.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/files/durable.h"
#include "core/files/safe_path.h"
#include "core/sources/elf_image.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;

constexpr const char* section_name = "flor_sources";

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool belongs_to_system(const std::string& name) {
  return is_file(fs::path("/usr/include") / name) || is_file(fs::path("/usr/local/include") / name);
}

bool lies_in(const fs::path& path, const fs::path& directory) {
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

// In a container another user's file can look like root's.
bool may_be_anyones(const fs::path& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) != 0 || is_unmapped(info.st_uid);
}

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
        if (!lies_in(directory / below / name, directories.back())) continue;
        if (Found found = searched(directory, below / name); found.exists()) return found;
      }
    }
    // A system's header needs no long search, and no project keeps its own that far away.
    if (belongs_to_system(name)) return {};
    for (std::size_t up = 0; up < directories.size() && up < 2; ++up) {
      for (const auto& below : folders_in(directories[up])) {
        if (!lies_in(below / name, directories.back())) continue;
        if (Found found = searched(below, name); found.exists()) return found;
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

  // Returns the folders in the directory, for projects that keep their headers in one of a name of their own.
  const std::vector<fs::path>& folders_in(const fs::path& directory) {
    constexpr std::size_t most = 64;  // a directory with more holds data
    const auto [at, is_new] = folders_.try_emplace(directory);
    std::error_code error;
    for (fs::directory_iterator entry(directory, error); is_new && !error && entry != fs::end(entry);
         entry.increment(error)) {
      if (at->second.size() == most) break;
      if (entry->is_directory(error) && entry->path().filename().string().front() != '.')
        at->second.push_back(entry->path());
    }
    std::sort(at->second.begin(), at->second.end());
    return at->second;
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
  std::map<fs::path, std::vector<fs::path>> folders_;
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

// Returns the include that a line makes. Its name is empty where a macro stands for it.
std::optional<Include> include_in(const std::string& line) {
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string::npos || line[first] != '#') return std::nullopt;
  const auto word = line.find_first_not_of(" \t", first + 1);
  if (word == std::string::npos || line.compare(word, 7, "include") != 0) return std::nullopt;
  const auto open = line.find_first_of("<\"", word + 7);
  const bool is_quoted = open != std::string::npos && line[open] == '"';
  const auto close = open == std::string::npos ? open : line.find(is_quoted ? '"' : '>', open + 1);
  if (close == std::string::npos) return Include{"", true};
  return Include{line.substr(open + 1, close - open - 1), is_quoted};
}

// Headers of the standard library have no extension. The others are LibTorch's and Flor's.
bool is_a_librarys(const std::string& name) {
  for (const char* folder : {"torch/", "ATen/", "c10/", "caffe2/", "flor/"})
    if (name.rfind(folder, 0) == 0) return true;
  return fs::path(name).extension().empty();
}

bool is_source(const std::string& name) {
  static const std::set<std::string> extensions{".cpp", ".cc", ".cxx", ".c++", ".C", ".c", ".cu"};
  return extensions.count(fs::path(name).extension().string()) != 0;
}

// Reads the files of a program, from its translation units on.
class SourceScanner {
 public:
  explicit SourceScanner(const fs::path& program)
      : finder_(program), built_(fs::last_write_time(program)), image_(read_named_file(program)) {}

  SourceScan scan() {
    std::set<std::string> named;
    for (const auto& name : translation_units(image_)) {
      named.insert(fs::path(name).filename());
      take(finder_.unit(name), name, true);
    }
    const std::vector<fs::path> units = open_;
    for (const auto& name : elf_source_files(image_)) {
      if (is_source(name) && named.count(name) == 0) add_unit_beside(name, units);
    }
    while (!open_.empty()) {
      const fs::path path = open_.back();
      open_.pop_back();
      if (seen_.insert(path).second) add(path);
    }
    out_.withheld.assign(finder_.withheld().begin(), finder_.withheld().end());
    return std::move(out_);
  }

 private:
  void take(const Found& found, const std::string& name, bool must_be_found) {
    if (found.path) {
      open_.push_back(*found.path);
    } else if (found.withheld || must_be_found) {
      out_.unresolved.push_back(name);
    }
  }

  // A unit that knows nothing of Flor left the name of its file alone. One that lies nowhere around the
  // others is a library's.
  void add_unit_beside(const std::string& name, const std::vector<fs::path>& units) {
    for (const auto& unit : units) {
      const Found found = finder_.include(name, unit);
      if (!found.exists()) continue;
      take(found, name, true);
      return;
    }
  }

  void add(const fs::path& path) {
    out_.files.push_back(
        {path.string(), read_named_file(path), fs::last_write_time(path) > built_, readers_of(path)});
    for (const auto& [name, is_quoted] : includes_of(out_.files.back().text)) {
      if (name.empty()) out_.unresolved.push_back(path.filename().string() + ": an #include without a name");
      if (name.empty()) continue;
      if (!is_quoted && is_a_librarys(name)) continue;
      const bool must_be_found = is_quoted && (fs::path(name).is_absolute() || !belongs_to_system(name));
      take(finder_.include(name, path), name, must_be_found);
    }
  }

  SourceFinder finder_;
  const fs::file_time_type built_;
  const std::string image_;
  SourceScan out_;
  std::set<fs::path> seen_;
  std::vector<fs::path> open_;
};

void sort(SourceScan& scan) {
  std::sort(scan.files.begin(), scan.files.end(),
            [](const SourceText& a, const SourceText& b) { return a.path < b.path; });
  std::sort(scan.unresolved.begin(), scan.unresolved.end());
  scan.unresolved.erase(std::unique(scan.unresolved.begin(), scan.unresolved.end()), scan.unresolved.end());
}

}  // namespace

std::vector<std::string> translation_units(const std::string& image) {
  const std::string bytes = elf_section(image, section_name);
  std::set<std::string> units;
  for (std::size_t at = 0; at < bytes.size();) {
    // Padding between the strings reads as empty names.
    const std::string name(bytes.c_str() + at);
    if (!name.empty()) units.insert(name);
    at += name.size() + 1;
  }
  return {units.begin(), units.end()};
}

std::vector<Include> includes_of(const std::string& text) {
  std::vector<Include> out;
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
    if (auto include = include_in(line)) out.push_back(std::move(*include));
    const auto open = line.rfind("/*");
    in_comment = open != std::string::npos && line.find("*/", open) == std::string::npos &&
                 line.rfind("//", open) == std::string::npos && line.rfind('"', open) == std::string::npos;
  }
  return out;
}

SourceScan scan_sources(const fs::path& binary) {
  SourceScan scan;
  try {
    scan = SourceScanner(fs::canonical(binary)).scan();
  } catch (const std::exception& problem) {
    scan.unresolved.emplace_back(problem.what());
  }
  sort(scan);
  return scan;
}

void add_sources(const std::vector<std::string>& paths, SourceScan& scan) {
  for (const auto& path : paths) {
    try {
      if (is_safe_path(path) && !may_be_anyones(fs::canonical(path))) {
        scan.files.push_back({path, read_named_file(path), false, readers_of(path), true});
        continue;
      }
      scan.withheld.push_back(path);
    } catch (const std::exception&) {
      // Said below.
    }
    scan.unresolved.push_back(path);
  }
  sort(scan);
}

}  // namespace flor::core
