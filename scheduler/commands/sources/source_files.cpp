#include "commands/sources/source_files.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/files/durable.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;

bool is_source(const fs::path& file) {
  static const std::array<const char*, 7> endings{".cpp", ".cc", ".cxx", ".h", ".hpp", ".cu", ".cuh"};
  return std::find(endings.begin(), endings.end(), file.extension().string()) != endings.end();
}

bool is_left_out(const fs::path& folder) {
  std::error_code ignored;
  return folder.filename().string().front() == '.' || fs::exists(folder / "CMakeCache.txt", ignored);
}

}  // namespace

SourceFiles recorded_sources(const core::RunDir& run, const core::Manifest& manifest) {
  SourceFiles out{{}, manifest.unresolved};
  for (const auto& source : manifest.sources) {
    if (source.interpreted) continue;
    try {
      out.files.push_back({source.path, core::read_file(run.path / source.file), source.newer});
    } catch (const std::exception&) {
      out.unresolved.push_back(source.path);  // all of it may have changed
    }
  }
  return out;
}

SourceFiles present_sources(const core::SourceScan& scan) {
  SourceFiles out{{}, scan.unresolved};
  for (const auto& file : scan.files) out.files.push_back({file.path, file.text, file.newer_than_binary});
  return out;
}

probes::ProbeAnalysis decide(const SourceFiles& recorded, const SourceFiles& present) {
  return probes::analyse(recorded.files, present.files, recorded.unresolved, present.unresolved);
}

SourceFiles sources_at(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) throw core::UsageError("there is no file or folder " + path.string());
  SourceFiles out;
  if (!fs::is_directory(path, error)) {
    out.files.push_back({path.filename().string(), core::read_named_file(path)});
    return out;
  }
  std::vector<fs::path> found;
  const auto options = fs::directory_options::skip_permission_denied;
  for (auto at = fs::recursive_directory_iterator(path, options); at != fs::end(at); ++at) {
    if (at->is_directory(error)) {
      if (is_left_out(at->path())) at.disable_recursion_pending();
    } else if (at->is_regular_file(error) && is_source(at->path())) {
      found.push_back(at->path());
    }
  }
  if (found.empty()) throw core::UsageError("there is no C++ source in the folder " + path.string());
  std::sort(found.begin(), found.end());
  for (const auto& file : found)
    out.files.push_back({file.lexically_relative(path).string(), core::read_named_file(file)});
  return out;
}

}  // namespace flor::commands
