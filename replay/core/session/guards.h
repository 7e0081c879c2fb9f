// Joins the living flor::checkpointing guards into one state: all that an iteration leaves to the next. The
// objects of the first guard keep their names; those of the k-th after it are named `@K.NAME`. In records of
// version 0.1 they are named `gK.NAME`.
#pragma once

#include <string>
#include <vector>

#include "core/checkpoint/buffers.h"

namespace flor::core {

// Keeps pointers to the states, which the caller owns. Training thread only.
class Guards : public State {
 public:
  void enter(State& state) { states_.push_back(&state); }
  void leave(State& state);
  bool empty() const { return states_.empty(); }

  bool grows() const override;
  void expect(const std::vector<std::string>& names) override;
  std::vector<Buffer> save() override;
  bool ready(bool is_last) override;
  std::size_t bytes_to_come() override;
  std::optional<std::string> misfit(const LoadedTensors& tensors) override;
  std::optional<std::string> restore(const LoadedTensors& tensors) override;

 private:
  // Splits the tensors by guard. Returns more parts than there are guards where a tensor belongs to none.
  std::vector<LoadedTensors> parts(const LoadedTensors& tensors) const;
  std::vector<State*> states_;
};

}  // namespace flor::core
