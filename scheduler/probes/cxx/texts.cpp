#include "probes/cxx/texts.h"

namespace flor::probes {
namespace {

uint64_t hash_of(std::string_view text) {  // FNV-1a
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

}  // namespace

Text Texts::keep(std::string_view text) {
  const bool single = text.size() == 1;
  const size_t byte = single ? static_cast<unsigned char>(text[0]) : 0;
  if (single && single_[byte] != nullptr) return Text(*single_[byte]);
  const uint64_t hash = hash_of(text);
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask; slots_[at] != nullptr; at = (at + 1) & mask) {
    if (slots_[at]->hash == hash && slots_[at]->text == text) return Text(*slots_[at]);
  }
  const KeptText& fresh = add(text, hash);
  if (single) single_[byte] = &fresh;
  return Text(fresh);
}

const KeptText& Texts::add(std::string_view text, uint64_t hash) {
  if (2 * (all_.size() + 1) > slots_.size()) grow();
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  while (slots_[at] != nullptr) at = (at + 1) & mask;
  all_.push_back({std::string(text), hash, all_.size()});
  slots_[at] = &all_.back();
  return all_.back();
}

void Texts::grow() {
  slots_.assign(2 * slots_.size(), nullptr);
  const size_t mask = slots_.size() - 1;
  for (const KeptText& one : all_) {
    size_t at = one.hash & mask;
    while (slots_[at] != nullptr) at = (at + 1) & mask;
    slots_[at] = &one;
  }
}

}  // namespace flor::probes
