// The flor::checkpointing guards that live, as one state: together they declare what an iteration depends on.
// Objects of the k-th guard behind the first are named `gK.ARG.FIELD`.
#pragma once

#include <string>
#include <vector>

#include "core/checkpoint/buffers.h"

namespace flor::core {

class Guards : public State {
 public:
  void enter(State& state) { states_.push_back(&state); }
  void leave(State& state);
  bool empty() const { return states_.empty(); }

  std::vector<Buffer> save() override;
  std::size_t bytes_to_come() override;
  std::optional<std::string> misfit(const LoadedTensors& tensors) override;
  std::optional<std::string> restore(const LoadedTensors& tensors) override;

 private:
  // The part of each guard; one more than there are guards where tensors belong to none.
  std::vector<LoadedTensors> parts(const LoadedTensors& tensors) const;
  std::vector<State*> states_;
};

}  // namespace flor::core
