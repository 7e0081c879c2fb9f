// find_tool() in a library of its own, as in libflor.
#include "core/config/tools.h"

__attribute__((visibility("default"))) std::string found_tool(const std::string& name) {
  return flor::core::find_tool(name);
}
