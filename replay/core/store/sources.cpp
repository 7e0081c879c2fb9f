#include "core/store/sources.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "core/files/durable.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;

constexpr const char* section_name = "flor_sources";

template <class T>
const T* view(const std::string& image, std::uint64_t offset) {
  if (offset > image.size() || image.size() - offset < sizeof(T)) return nullptr;
  return reinterpret_cast<const T*>(image.data() + offset);
}

// The bytes of the section of that name in a 64-bit ELF image; empty when there is none.
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

std::optional<fs::path> existing(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  auto canonical = fs::canonical(path, error);
  if (error) return std::nullopt;
  return canonical;
}

// A relative name was relative to the directory of the compilation, which is nowhere recorded: the working
// directory, the program's directory and those above it are where it can have been.
std::optional<fs::path> find_unit(const fs::path& name, const fs::path& binary) {
  if (name.is_absolute()) return existing(name);
  std::error_code error;
  if (auto here = existing(fs::current_path(error) / name)) return here;
  for (fs::path directory = binary.parent_path();; directory = directory.parent_path()) {
    if (auto found = existing(directory / name)) return found;
    if (directory == directory.parent_path()) return std::nullopt;
  }
}

// A quoted include is searched beside the file that names it, then in the usual places of a project around
// it.
std::optional<fs::path> find_include(const std::string& name, const fs::path& includer) {
  fs::path directory = includer.parent_path();
  for (int up = 0; up < 4; ++up) {
    for (const char* below : {"", "include", "src"}) {
      if (auto found = existing(directory / below / name)) return found;
    }
    if (directory == directory.parent_path()) break;
    directory = directory.parent_path();
  }
  return std::nullopt;
}

bool belongs_to_system(const std::string& name) {
  return existing(fs::path("/usr/include") / name) || existing(fs::path("/usr/local/include") / name);
}

}  // namespace

std::vector<std::string> translation_units(const std::string& image) {
  const std::string bytes = section(image, section_name);
  std::set<std::string> units;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::string name(bytes.c_str() + at);  // padding between the strings reads as empty names
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
    std::set<fs::path> seen;
    std::vector<fs::path> open;
    for (const auto& name : translation_units(read_named_file(program))) {
      if (auto unit = find_unit(name, program)) {
        open.push_back(*unit);
      } else {
        scan.unresolved.push_back(name);
      }
    }
    while (!open.empty()) {
      const fs::path path = open.back();
      open.pop_back();
      if (!seen.insert(path).second) continue;
      scan.files.push_back({path.string(), read_named_file(path), fs::last_write_time(path) > built});
      for (const auto& name : quoted_includes(scan.files.back().text)) {
        if (auto include = find_include(name, path)) {
          open.push_back(*include);
        } else if (!belongs_to_system(name)) {
          scan.unresolved.push_back(name);
        }
      }
    }
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
