#include "core/recorded_state.h"

#include "core/error.h"

namespace flor::core {

RecordedState::RecordedState(Worker& worker, Frontend& frontend)
    : worker_(worker), frontend_(frontend), index_(worker.run()), restorer_(worker.run()) {}

bool RecordedState::restore(const std::string& at, State& state, Restorer::OnDamage on_damage) {
  const auto* entry = index_.checkpoint(at);
  if (entry == nullptr || entry->removed) return false;
  const double start = monotonic_seconds();
  try {
    frontend_.set_generators(restorer_.restore(*entry, at, state, on_damage));
  } catch (const Damage& damage) {
    worker_.note(std::string(damage.what()) + "; it is not used, what it would have saved is computed again");
    return false;
  } catch (const Error& mismatch) {
    // The objects are changed by now: nothing may go on from here.
    worker_.fail(mismatch.what());
  }
  worker_.restored(at, monotonic_seconds() - start);
  return true;
}

void RecordedState::pin_generators(const std::string& at, const char* edge) {
  if (const GeneratorStates* states = index_.generators(at, edge)) frontend_.set_generators(*states);
}

}  // namespace flor::core
