#include "core/materialize/unchanged.h"

#include <algorithm>
#include <utility>

#include "core/base/digest.h"

namespace flor::core {
namespace {

std::string digest_of_samples(const Buffer& buffer) {
  const auto* bytes = static_cast<const unsigned char*>(buffer.host());
  if (bytes == nullptr) return "";
  Digester digester;
  for (std::size_t k = 0; k < Unchanged::samples; ++k) {
    const std::size_t at = (buffer.bytes - Unchanged::sample_bytes) / (Unchanged::samples - 1) * k;
    digester.add(bytes + at, Unchanged::sample_bytes);
  }
  digester.add(bytes + buffer.bytes - Unchanged::sample_bytes, Unchanged::sample_bytes);
  return digester.hex();
}

}  // namespace

std::vector<std::optional<Unchanged::BlobRef>> Unchanged::find_unchanged(const std::vector<Buffer>& live,
                                                                         const std::string& file) {
  const std::lock_guard<std::mutex> lock(mutex_);
  checkpoints_ += 1;
  std::vector<std::optional<BlobRef>> out;
  out.reserve(live.size());
  auto& files = unsettled_[file];
  for (const auto& buffer : live) {
    out.push_back(find(buffer, file));
    if (out.back()) files.insert(out.back()->file);
  }
  forget_the_dead(live.size());
  return out;
}

std::optional<Unchanged::BlobRef> Unchanged::find(const Buffer& buffer, const std::string& file) {
  if (!buffer.hint || buffer.bytes < worth_referring) return std::nullopt;
  const auto at = known_.find(buffer.hint->memory);
  if (at == known_.end()) return std::nullopt;
  Known& known = at->second;
  known.seen = checkpoints_;
  if (known.silent || known.version != buffer.hint->version) return std::nullopt;
  const bool is_on_host = buffer.host() != nullptr;
  if (!buffer.hint->anchor || buffer.bytes < worth_trusting || !known.confirmed ||
      (is_on_host && known.sampled.empty()) || checkpoints_ - known.verified >= turn)
    return look(buffer, known);
  if (is_on_host && digest_of_samples(buffer) != known.sampled) {
    distrust(buffer.name, known);
    return std::nullopt;
  }
  known.on_trust.push_back(file);
  return known.ref;
}

std::optional<Unchanged::BlobRef> Unchanged::look(const Buffer& buffer, Known& known) {
  // Device memory cannot be hashed here: it must be copied first. learn() then compares its digest.
  const void* bytes = buffer.host();
  if (bytes == nullptr) return std::nullopt;
  if (digest_of(bytes, buffer.bytes) == known.ref.digest) {
    // Spreads the next checks of tensors that were confirmed together.
    known.verified = known.confirmed ? checkpoints_ : checkpoints_ - confirmed_++ % turn;
    known.confirmed = true;
    known.on_trust.clear();
    if (buffer.bytes >= worth_trusting) known.sampled = digest_of_samples(buffer);
    return known.ref;
  }
  distrust(buffer.name, known);
  return std::nullopt;
}

void Unchanged::distrust(const std::string& tensor, Known& known) {
  known.silent = true;
  if (!known.on_trust.empty()) changes_.push_back({tensor, std::move(known.on_trust)});
  known.on_trust.clear();
}

std::size_t Unchanged::to_copy(const std::vector<Buffer>& live) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& buffer : live) {
    if (buffer.hint && buffer.bytes >= worth_referring) {
      const auto at = known_.find(buffer.hint->memory);
      if (at != known_.end() && !at->second.silent && at->second.version == buffer.hint->version) continue;
    }
    bytes += buffer.bytes;
  }
  return bytes;
}

void Unchanged::learn(const ChangeHint& hint, const BlobRef& ref) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Known& known = known_[hint.memory];
  if (known.learned && known.version == hint.version) {
    known.confirmed = known.ref.digest == ref.digest;
    if (known.silent || !known.confirmed) distrust(ref.tensor, known);
  } else {
    known.confirmed = false;
  }
  known.on_trust.clear();
  known.sampled.clear();
  known.learned = true;
  known.version = hint.version;
  known.ref = ref;
  known.anchor = hint.anchor;
  known.verified = known.seen = checkpoints_;
}

void Unchanged::recheck_trusted(const std::vector<Buffer>& live) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& buffer : live) {
    const auto at = buffer.hint ? known_.find(buffer.hint->memory) : known_.end();
    if (at == known_.end() || at->second.version != buffer.hint->version || at->second.on_trust.empty())
      continue;
    if (buffer.host() != nullptr) {
      look(buffer, at->second);
    } else {
      std::vector<unsigned char> copy(buffer.bytes);
      buffer.copy_to(copy.data());
      Buffer here = buffer;
      here.copy = nullptr;
      here.data = copy.data();
      look(here, at->second);
    }
  }
}

// Removes tensors that no checkpoint has asked for lately: a program that creates new tensors at each step
// leaves old ones behind.
void Unchanged::forget_the_dead(std::size_t live) {
  if (known_.size() <= 4 * live + 64) return;
  for (auto it = known_.begin(); it != known_.end();) {
    it = checkpoints_ - it->second.seen > turn ? known_.erase(it) : std::next(it);
  }
}

std::vector<SilentChange> Unchanged::take_silent_changes() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(changes_, {});
}

void Unchanged::settled(const std::string& checkpoint) {
  const std::lock_guard<std::mutex> lock(mutex_);
  unsettled_.erase(checkpoint);
}

bool Unchanged::forget(const std::string& file) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [checkpoint, files] : unsettled_) {
    if (files.count(file) > 0) return false;
  }
  for (auto it = known_.begin(); it != known_.end();) {
    it = it->second.ref.file == file ? known_.erase(it) : std::next(it);
  }
  return true;
}

}  // namespace flor::core
