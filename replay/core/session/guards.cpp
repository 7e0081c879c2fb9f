#include "core/session/guards.h"

#include <algorithm>

namespace flor::core {
namespace {

std::string prefix_of(std::size_t guard) {
  return guard == 0 ? "" : "@" + std::to_string(guard) + ".";
}

constexpr std::size_t kMostGuards = 1000;

// Returns how the names of further guards begin. A first guard may have objects called `g1`, too.
char mark_of(const LoadedTensors& tensors) {
  const bool is_new = std::any_of(tensors.begin(), tensors.end(),
                                  [](const auto& entry) { return entry.first.rfind('@', 0) == 0; });
  const bool is_numbered = std::all_of(tensors.begin(), tensors.end(), [](const auto& entry) {
    const char first = entry.first.empty() ? '\0' : entry.first.front();
    return first == 'g' || (first >= '0' && first <= '9');
  });
  return is_new || !is_numbered ? '@' : 'g';
}

// Returns the number of the guard that a name belongs to, and how long its prefix is.
std::pair<std::size_t, std::size_t> guard_of(const std::string& name, char mark) {
  const std::size_t dot = name.find('.');
  if (name.empty() || name.front() != mark || dot == std::string::npos || dot < 2) return {0, 0};
  std::size_t guard = 0;
  for (std::size_t i = 1; i < dot; ++i) {
    if (name[i] < '0' || name[i] > '9' || guard > kMostGuards) return {0, 0};
    guard = guard * 10 + static_cast<std::size_t>(name[i] - '0');
  }
  return {guard, dot + 1};
}

}  // namespace

void Guards::leave(State& state) {
  states_.erase(std::remove(states_.begin(), states_.end(), &state), states_.end());
}

std::vector<Buffer> Guards::save() {
  std::vector<Buffer> out;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    for (auto& buffer : states_[i]->save()) {
      buffer.name.insert(0, prefix_of(i));
      out.push_back(std::move(buffer));
    }
  }
  return out;
}

std::vector<LoadedTensors> Guards::parts(const LoadedTensors& tensors) const {
  std::vector<LoadedTensors> out(states_.size());
  const char mark = states_.size() > 1 ? mark_of(tensors) : '@';
  for (const auto& [name, tensor] : tensors) {
    const auto [guard, prefix] = guard_of(name, mark);
    if (guard >= out.size()) out.resize(guard + 1);
    out[guard][name.substr(prefix)] = tensor;
  }
  return out;
}

bool Guards::grows() const {
  return std::any_of(states_.begin(), states_.end(), [](const State* state) { return state->grows(); });
}

void Guards::expect(const std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> parts(states_.size());
  for (const auto& name : names) {
    const auto [guard, prefix] = guard_of(name, '@');
    if (guard < parts.size()) parts[guard].push_back(name.substr(prefix));
  }
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i]->grows()) states_[i]->expect(parts[i]);
  }
}

bool Guards::ready(bool is_last) {
  return std::all_of(states_.begin(), states_.end(), [&](State* state) { return state->ready(is_last); });
}

std::size_t Guards::bytes_to_come() {
  std::size_t bytes = 0;
  for (State* state : states_) bytes += state->bytes_to_come();
  return bytes;
}

std::optional<std::string> Guards::misfit(const LoadedTensors& tensors) {
  const auto parts = this->parts(tensors);
  if (parts.size() > states_.size()) return "the recorded program had more flor::checkpointing guards";
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (auto why = states_[i]->misfit(parts[i])) return why;
  }
  return std::nullopt;
}

std::optional<std::string> Guards::restore(const LoadedTensors& tensors) {
  if (auto why = misfit(tensors)) return why;
  const auto parts = this->parts(tensors);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (auto why = states_[i]->restore(parts[i])) return why;
  }
  return std::nullopt;
}

}  // namespace flor::core
