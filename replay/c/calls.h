// Makes the calls of a front end in another language look like the core's interfaces.
#pragma once

#include <atomic>

#include "core/checkpoint/buffers.h"
#include "flor/c.h"

namespace flor::c {

// Answers as an empty front end once detached.
class CallingFrontend : public core::Frontend {
 public:
  using Map = std::map<std::string, std::string>;

  explicit CallingFrontend(const flor_frontend& calls) : calls_(calls) {}
  // Makes no calls from here on. Thread-safe.
  static void detach() { detached = true; }
  static bool is_detached() { return detached; }

  Map generators() override;
  void set_generators(const Map& states) override;
  Map environment() override;
  Map preset() override;
  void apply(const Map& environment) override;
  void synchronize() override;
  std::vector<std::string> sources() override;

 private:
  static std::atomic<bool> detached;
  const flor_frontend calls_;
};

// Throws core::LocalError with the reason that the front end gives.
class CallingState : public core::State {
 public:
  explicit CallingState(const flor_state_calls& calls) : calls_(calls) {}

  std::vector<core::Buffer> save() override;
  bool grows() const override { return calls_.expect != nullptr; }
  void expect(const std::vector<std::string>& names) override;
  bool ready(bool is_last) override;
  std::optional<std::string> misfit(const core::LoadedTensors& tensors) override;
  std::optional<std::string> restore(const core::LoadedTensors& tensors) override;

 private:
  const flor_state_calls calls_;
};

}  // namespace flor::c
