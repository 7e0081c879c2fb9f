#include "core/store/scope.h"

#include <algorithm>
#include <cctype>

namespace flor::core {

std::string clean_name(const std::string& name, bool reserved) {
  std::string out = name.empty() ? "_" : name;
  for (char& c : out) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.' && c != '-') c = '_';
  }
  if (out.front() == '.' || out.front() == '-') out.front() = '_';
  if (reserved && (out == "name" || out == "value")) out += '_';
  return out;
}

int64_t Scope::occurrence(const std::string& key) {
  auto& seen = levels_.back().seen;
  auto at = std::find_if(seen.begin(), seen.end(), [&](const auto& entry) { return entry.first == key; });
  if (at == seen.end()) {
    seen.emplace_back(key, 1);
    return 0;
  }
  return at->second++;
}

std::string Scope::enter_loop(const std::string& name) {
  const int64_t occurrence = this->occurrence(name + "=");
  Level level;
  level.name = occurrence == 0 ? name : name + "#" + std::to_string(occurrence);
  level.loop = true;
  levels_.push_back(std::move(level));
  return levels_.back().name;
}

void Scope::set_value(int64_t value) {
  levels_.back().value = value;
  levels_.back().iterating = true;
  levels_.back().seen.clear();
}

void Scope::enter_block(const std::string& name) {
  Level level;
  level.ordinal = occurrence(name);
  level.name = name;
  levels_.push_back(std::move(level));
}

void Scope::leave() {
  if (levels_.size() > 1) levels_.pop_back();
}

Scope Scope::without_blocks() const {
  Scope out = *this;
  auto& levels = out.levels_;
  levels.erase(
      std::remove_if(levels.begin() + 1, levels.end(), [](const Level& level) { return !level.loop; }),
      levels.end());
  return out;
}

std::string Scope::path_of(std::size_t levels) const {
  std::string path;
  for (std::size_t i = 1; i < levels; ++i) {
    const Level& level = levels_[i];
    if (level.loop && !level.iterating) continue;
    if (!path.empty()) path += '/';
    path += level.name;
    path += level.loop ? '=' : '#';
    path += std::to_string(level.loop ? level.value : level.ordinal);
  }
  return path;
}

std::vector<std::pair<std::string, int64_t>> Scope::loops() const {
  std::vector<std::pair<std::string, int64_t>> out;
  for (const auto& level : levels_) {
    if (level.loop && level.iterating) out.emplace_back(level.name, level.value);
  }
  return out;
}

std::string checkpoint_stem(const std::string& parent, int64_t ordinal, int64_t rank, int64_t world) {
  std::string stem = parent.empty() ? "program" : parent;
  std::replace(stem.begin(), stem.end(), '/', ',');
  if (ordinal != 0) stem += "#" + std::to_string(ordinal);
  if (world > 1) stem += ".r" + std::to_string(rank) + "of" + std::to_string(world);
  return stem;
}

}  // namespace flor::core
