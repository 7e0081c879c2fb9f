#include "core/config/python_hook.h"

#include <sstream>

#include "core/files/safe_path.h"

namespace flor::core {

namespace fs = std::filesystem;

namespace {

// A colon would end the folder's name in PYTHONPATH.
bool is_hook_folder(const fs::path& folder, const Makers& makers) {
  std::error_code ignored;
  const fs::path hook = folder / "flor-hook";
  return folder.string().find(':') == std::string::npos &&
         fs::is_regular_file(hook / "sitecustomize.py", ignored) &&
         is_safe_path(hook / "sitecustomize.py", makers) && is_closed_directory(hook, makers) &&
         is_closed_directory(folder, makers) && is_closed_directory(folder / "flor", makers);
}

}  // namespace

std::string python_folder(const std::vector<fs::path>& bins) {
  for (const auto& bin : bins) {
    std::error_code error;
    const fs::path command = fs::canonical(bin / "flor", error);
    if (!bin.is_absolute() || error) continue;
    for (const char* place : {"../python", "../lib/flor/python"}) {
      const fs::path folder = fs::weakly_canonical(bin / place, error);
      if (!error && is_hook_folder(folder, makers_of(command))) return folder.string();
    }
  }
  return "";
}

std::string with_python_hook(const std::string& folder, const std::string& path) {
  const std::string hook = folder + "/flor-hook";
  if (folder.empty() || path == hook || path.rfind(hook + ":", 0) == 0) return path;
  return hook + (path.empty() ? "" : ":" + path);
}

std::vector<fs::path> directories_of(const std::string& path) {
  std::vector<fs::path> out;
  std::istringstream text(path);
  for (std::string directory; std::getline(text, directory, ':');) {
    if (!directory.empty()) out.emplace_back(directory);
  }
  return out;
}

}  // namespace flor::core
