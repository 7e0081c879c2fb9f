#include "core/checkpoint/record_reader.h"

#include "core/base/clock.h"
#include "core/base/error.h"

namespace flor::core {

RecordReader::RecordReader(const RunDir& run, Frontend& frontend, Listener listener)
    : frontend_(frontend), listener_(std::move(listener)), index_(run), restorer_(run) {}

bool RecordReader::restore(const std::string& at, State& state, Restorer::OnDamage on_damage) {
  const auto* entry = index_.checkpoint(at);
  if (entry == nullptr || entry->removed) return false;
  const double start = monotonic_seconds();
  try {
    frontend_.set_generators(restorer_.restore(*entry, at, state, on_damage));
  } catch (const Damage& damage) {
    listener_.damaged(std::string(damage.what()) +
                      "; it is not used, what it would have saved is computed again");
    return false;
  } catch (const Error& mismatch) {
    listener_.spoiled(mismatch.what());
  }
  listener_.restored(at, monotonic_seconds() - start);
  return true;
}

bool RecordReader::restore_objects(const std::string& at, State& state) {
  const auto generators = frontend_.generators();
  const bool restored = restore(at, state);
  if (restored) frontend_.set_generators(generators);
  return restored;
}

bool RecordReader::pin_generators(const std::string& at, const char* edge) {
  const GeneratorStates* states = index_.generators(at, edge);
  if (states != nullptr) frontend_.set_generators(*states);
  return states != nullptr;
}

}  // namespace flor::core
