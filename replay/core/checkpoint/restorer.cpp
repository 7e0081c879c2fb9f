#include "core/checkpoint/restorer.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/parallel.h"

namespace flor::core {
namespace {

// Smaller tensors are restored each time, and so are those that are left alone.
constexpr std::size_t large = std::size_t{64} << 10;

bool is_large(const Buffer& buffer) {
  return buffer.data != nullptr && buffer.bytes >= large && !buffer.is_left_alone;
}

bool overlap(const Buffer& a, const Buffer& b) {
  const auto* begin_a = static_cast<const char*>(a.data);
  const auto* begin_b = static_cast<const char*>(b.data);
  return begin_a < begin_b + b.bytes && begin_b < begin_a + a.bytes;
}

// A restore that fails half-way, as on a GPU without memory for it, leaves objects that are neither as before
// nor as recorded.
std::optional<std::string> write_into(State& state, const LoadedTensors& tensors, const std::string& at) {
  try {
    return state.restore(tensors);
  } catch (const std::exception& failure) {
    throw LocalError("restoring the objects of " + at + " failed half-way: " + failure.what());
  }
}

void expect(const CheckpointHeader& header, State& state) {
  if (!state.grows()) return;
  std::vector<std::string> names;
  for (const auto& tensor : header.tensors) {
    if (tensor.name.rfind(generator_prefix, 0) != 0) names.push_back(tensor.name);
  }
  state.expect(names);
}

}  // namespace

std::map<std::string, std::string> Restorer::restore(const RecordIndex::CheckpointEntry& entry,
                                                     const std::string& at, State& state,
                                                     OnDamage on_damage) {
  const CheckpointHeader header = Checkpoint::header_of(run_, entry.file);
  if (header.state != entry.state || header.at != at) {
    throw Damage(entry.file + ": it is not the checkpoint that the timeline names");
  }
  expect(header, state);
  const auto live = state.save();
  auto there = present(header, live);
  std::vector<Checkpoint::Target> straight;
  if (on_damage == OnDamage::spoil) straight = direct(header, live, there);
  for (const auto& target : straight) there.insert(target.tensor);
  Checkpoint checkpoint = Checkpoint::load(run_, entry.file, there);
  LoadedTensors tensors = checkpoint.tensors();
  for (auto it = tensors.begin(); it != tensors.end();) {
    it = it->first.rfind(generator_prefix, 0) == 0 ? tensors.erase(it) : std::next(it);
  }
  auto why = state.misfit(tensors);
  if (!why) {
    checkpoint.read_into(run_, straight);
    why = write_into(state, tensors, at);
  }
  if (why) throw Damage(entry.file + " does not fit the program's objects: " + *why);
  if (digest_behind(header, state.save(), there) != entry.state) {
    throw Error(entry.file + ": the objects of " + at +
                " do not hold what was restored into them; do two share memory here that did not when it was "
                "recorded?");
  }
  return checkpoint.generators();
}

bool Restorer::is_comparable(const RecordIndex::CheckpointEntry& entry, State& state) const {
  if (!state.grows()) return true;
  if (entry.removed) return false;
  try {
    expect(Checkpoint::header_of(run_, entry.file), state);
    return true;
  } catch (const Damage&) {
    return false;
  }
}

std::vector<Checkpoint::Target> Restorer::direct(const CheckpointHeader& header,
                                                 const std::vector<Buffer>& live,
                                                 const std::set<std::string>& present) {
  std::map<std::string, const CheckpointTensor*> recorded;
  for (const auto& tensor : header.tensors) recorded[tensor.name] = &tensor;
  std::vector<Checkpoint::Target> out;
  for (const auto& buffer : live) {
    const auto wanted = recorded.find(buffer.name);
    if (!is_large(buffer) || present.count(buffer.name) > 0 || wanted == recorded.end()) continue;
    if (wanted->second->dtype != buffer.dtype || wanted->second->shape != buffer.shape) continue;
    // A kind says that the tensor may have to lie elsewhere; shared memory may have to be pulled apart.
    const bool plain = recorded.count(buffer.name + "@kind") == 0;
    const bool alone = std::none_of(live.begin(), live.end(), [&](const Buffer& other) {
      return &other != &buffer && other.data != nullptr && overlap(buffer, other);
    });
    // The program's own memory, which a snapshot only reads.
    if (plain && alone) out.push_back({buffer.name, const_cast<void*>(buffer.data), buffer.bytes});
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.size > b.size; });
  return out;
}

std::set<std::string> Restorer::present(const CheckpointHeader& header,
                                        const std::vector<Buffer>& live) const {
  std::map<std::string, const CheckpointTensor*> recorded;
  for (const auto& tensor : header.tensors) recorded[tensor.name] = &tensor;
  std::vector<const Buffer*> likely;
  for (const auto& buffer : live) {
    const auto held = is_large(buffer) ? held_.find(buffer.data) : held_.end();
    const auto wanted = recorded.find(buffer.name);
    if (held == held_.end() || wanted == recorded.end()) continue;
    const CheckpointTensor& tensor = *wanted->second;
    if (tensor.digest == held->second && tensor.dtype == buffer.dtype && tensor.shape == buffer.shape)
      likely.push_back(&buffer);
  }
  std::set<std::string> out;
  std::mutex mutex;
  in_parallel(likely.size(), [&](std::size_t i) {
    const Buffer& buffer = *likely[i];
    if (digest_of(buffer.data, buffer.bytes) != recorded.at(buffer.name)->digest) return;
    const std::lock_guard<std::mutex> lock(mutex);
    out.insert(buffer.name);
  });
  return out;
}

std::string Restorer::digest_behind(const CheckpointHeader& header, const std::vector<Buffer>& live,
                                    const std::set<std::string>& present) {
  std::map<std::string, std::string> recorded;
  for (const auto& tensor : header.tensors) recorded[tensor.name] = tensor.digest;
  std::vector<const Buffer*> written;
  for (const auto& buffer : live) {
    if (buffer.data != nullptr && present.count(buffer.name) == 0) written.push_back(&buffer);
  }
  // Bytes that were not written are not hashed again.
  auto is_untouched = [&](const Buffer& buffer) {
    return present.count(buffer.name) > 0 &&
           std::none_of(written.begin(), written.end(),
                        [&](const Buffer* other) { return overlap(buffer, *other); });
  };
  std::vector<DigestLine> lines(live.size());
  in_parallel(live.size(), [&](std::size_t i) {
    const Buffer& buffer = live[i];
    lines[i] = {buffer.name, buffer.dtype, buffer.shape,
                is_untouched(buffer) ? recorded.at(buffer.name) : digest_of(buffer)};
  });
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (is_large(live[i])) held_[live[i].data] = lines[i].digest;
  }
  return digest_of(state_lines(std::move(lines)));
}

RecordReader::RecordReader(const RunDir& run, Frontend& frontend, Listener listener,
                           const GeneratorLog::Wanted& wanted)
    : frontend_(frontend), listener_(std::move(listener)), index_(run, wanted), restorer_(run) {}

GeneratorStates RecordReader::patiently_restored(const RecordIndex::CheckpointEntry& entry,
                                                 const std::string& at, State& state,
                                                 Restorer::OnDamage on_damage) {
  for (;;) {
    try {
      return restorer_.restore(entry, at, state, on_damage);
    } catch (const Unreadable& now) {
      if (!listener_.refused || !listener_.refused(now.what())) throw;
    }
  }
}

bool RecordReader::restore(const std::string& at, State& state, Restorer::OnDamage on_damage) {
  const auto* entry = index_.checkpoint(at);
  if (entry == nullptr || entry->removed) return false;
  const double start = monotonic_seconds();
  try {
    frontend_.set_generators(patiently_restored(*entry, at, state, on_damage));
  } catch (const Damage& damage) {
    listener_.damaged(std::string(damage.what()) +
                      "; it is not used, what it would have saved is computed again");
    return false;
  } catch (const LocalError& failure) {
    listener_.failed(failure.what());
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

const RecordIndex::CheckpointEntry* RecordReader::comparable(const std::string& at, State& state) const {
  const auto* entry = index_.checkpoint(at);
  return entry != nullptr && restorer_.is_comparable(*entry, state) ? entry : nullptr;
}

bool RecordReader::pin_generators(const std::string& at, const char* edge) {
  const auto states = index_.generators().at(at, edge);
  if (states) frontend_.set_generators(*states);
  return states.has_value();
}

std::optional<GeneratorLog::Difference> RecordReader::generator_difference(const std::string& at,
                                                                           const char* edge) {
  return index_.generators().difference(at, edge, frontend_.generators());
}

}  // namespace flor::core
