#include "commands/sources/python_hook.h"

#include "commands/base/options.h"
#include "core/config/python_hook.h"
#include "core/config/settings.h"

namespace flor::commands {

void add_python_hook(std::map<std::string, std::string>& environment) {
  const auto present = environment.find("PYTHONPATH");
  const std::string path = core::with_python_hook(core::python_folder({own_directory()}),
                                                  present == environment.end() ? "" : present->second);
  if (!path.empty()) environment["PYTHONPATH"] = path;
  if (!core::environment_variable("PYTHONHASHSEED")) environment.emplace("PYTHONHASHSEED", core::hash_seed);
}

std::string path_with_package() {
  const std::string path = core::environment_variable("PYTHONPATH").value_or("");
  const std::string folder = core::python_folder({own_directory()});
  return path + (path.empty() || folder.empty() ? "" : ":") + folder;
}

}  // namespace flor::commands
