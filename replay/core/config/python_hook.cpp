#include "core/config/python_hook.h"

#include <sstream>

namespace flor::core {

namespace fs = std::filesystem;

std::string python_folder(const std::vector<fs::path>& bins) {
  for (const auto& bin : bins) {
    for (const char* place : {"../python", "../lib/flor/python"}) {
      std::error_code error;
      const fs::path folder = fs::weakly_canonical(bin / place, error);
      if (!bin.is_absolute() || error) continue;
      if (fs::is_regular_file(folder / "flor-hook" / "sitecustomize.py", error)) return folder.string();
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
