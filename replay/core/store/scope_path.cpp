#include "core/store/scope_path.h"

#include <algorithm>
#include <charconv>

namespace flor::core {

std::vector<ScopeElement> scope_elements(std::string_view path) {
  std::vector<ScopeElement> out;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    ScopeElement element;
    const auto equals = part.find('=');
    element.loop = equals != std::string_view::npos;
    const auto cut = element.loop ? equals : part.find('#');
    element.name = part.substr(0, cut);
    if (cut != std::string_view::npos) {
      std::from_chars(part.data() + cut + 1, part.data() + part.size(), element.value);
    }
    out.push_back(element);
  }
  return out;
}

ScopeLoops scope_loops(std::string_view path) {
  ScopeLoops out;
  for (const auto& element : scope_elements(path)) {
    if (element.loop) out.emplace_back(std::string(element.name), element.value);
  }
  return out;
}

}  // namespace flor::core
