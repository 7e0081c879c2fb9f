// Saving objects and restoring them into others, as a checkpoint does.
#pragma once

#include <map>

#include "torch/archives.h"

namespace flor::test {

// A record that owns its bytes.
class Record {
 public:
  template <class... T>
  static Record of(T&... objects) {
    detail::TorchState state(std::make_unique<ObjectsOf<T...>>(objects...));
    Record record;
    record.buffers_ = state.save();
    for (const auto& buffer : record.buffers_) {
      auto& bytes = record.bytes_[buffer.name];
      bytes.resize(std::max<std::size_t>(buffer.bytes, 1));
      buffer.copy_to(bytes.data());
      record.tensors_[buffer.name] = {buffer.dtype, buffer.shape, bytes.data(), buffer.bytes};
    }
    record.digest_ = core::state_digest(record.buffers_);
    return record;
  }

  // Nothing when it fitted; else why not.
  template <class... T>
  std::optional<std::string> restore_into(T&... objects) const {
    detail::TorchState state(std::make_unique<ObjectsOf<T...>>(objects...));
    return state.restore(tensors_);
  }

  const std::string& digest() const { return digest_; }
  const core::LoadedTensors& tensors() const { return tensors_; }

 private:
  std::vector<core::Buffer> buffers_;
  std::map<std::string, std::vector<unsigned char>> bytes_;
  core::LoadedTensors tensors_;
  std::string digest_;
};

}  // namespace flor::test
