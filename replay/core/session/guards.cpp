#include "core/session/guards.h"

#include <algorithm>

namespace flor::core {
namespace {

std::string prefix_of(std::size_t guard) {
  return guard == 0 ? "" : "g" + std::to_string(guard) + ".";
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
  for (const auto& [name, tensor] : tensors) {
    // The objects of the first guard have no prefix; their names begin with a digit.
    std::size_t guard = 0;
    if (name.front() == 'g') {
      for (guard = 1; guard < states_.size() && name.rfind(prefix_of(guard), 0) != 0;) ++guard;
    }
    if (guard >= out.size()) out.resize(guard + 1);
    out[guard][name.substr(std::min(prefix_of(guard).size(), name.size()))] = tensor;
  }
  return out;
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
