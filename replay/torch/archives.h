// The archives that visit the objects of a program: one saves them, one checks that a record fits and writes
// it.
#pragma once

#include <map>
#include <set>

#include "core/checkpoint/buffers.h"
#include "flor/archive.h"

namespace flor::detail {

class SavingArchive : public Archive {
 public:
  std::vector<core::Buffer> take() { return std::move(buffers_); }
  std::size_t bytes_to_come() const { return bytes_to_come_; }

  void tensor(const std::string& name, at::Tensor& value, const at::Tensor& like) override;
  void fixed_tensor(const std::string& name, at::Tensor& value) override;
  void number(const std::string& name, const char* dtype, void* bytes, std::size_t size) override;
  void text(const std::string& name, std::string& value) override;
  void flags(const std::string& name, std::vector<uint8_t>& values) override;
  void generator(const std::string& name, at::Generator& generator) override;
  bool writing() const override { return false; }
  bool restoring() const override { return false; }
  int64_t count(const std::string& name, int64_t live) override;
  void to_come(std::size_t bytes) override { bytes_to_come_ += bytes; }

 private:
  void add(core::Buffer buffer);
  std::vector<core::Buffer> buffers_;
  std::size_t bytes_to_come_ = 0;
};

// Visits the same objects with a record. The first visit does not write: a record that does not fit (a name
// missing or left over, another type or shape) is found before anything was changed.
class RestoringArchive : public Archive {
 public:
  RestoringArchive(const core::LoadedTensors& tensors, bool writing) : tensors_(tensors), writing_(writing) {}

  // Returns why the record does not fit. Nothing if it fits.
  std::optional<std::string> problem() const;

  void tensor(const std::string& name, at::Tensor& value, const at::Tensor& like) override;
  void fixed_tensor(const std::string& name, at::Tensor& value) override;
  void number(const std::string& name, const char* dtype, void* bytes, std::size_t size) override;
  void text(const std::string& name, std::string& value) override;
  void flags(const std::string& name, std::vector<uint8_t>& values) override;
  void generator(const std::string& name, at::Generator& generator) override;
  bool writing() const override { return writing_; }
  bool restoring() const override { return true; }
  int64_t count(const std::string& name, int64_t live) override;

 private:
  const core::LoadedTensor* find(const std::string& name);
  void complain(const std::string& what);
  bool is_free(const at::Tensor& value, const core::LoadedTensor& loaded);

  const core::LoadedTensors& tensors_;
  const bool writing_;
  std::set<std::string> used_;
  std::map<std::pair<const void*, std::size_t>, const core::LoadedTensor*>
      written_;  // memory of plain tensors
  std::string problem_;
};

// The objects of a block or guard, for the core.
class TorchState : public core::State {
 public:
  explicit TorchState(std::unique_ptr<Objects> objects) : objects_(std::move(objects)) {}
  std::vector<core::Buffer> save() override;
  std::size_t bytes_to_come() override;
  std::optional<std::string> misfit(const core::LoadedTensors& tensors) override;
  std::optional<std::string> restore(const core::LoadedTensors& tensors) override;

 private:
  std::unique_ptr<Objects> objects_;
};

// Returns the tensor as a buffer. Throws core::Error if it is sparse or quantized.
core::Buffer buffer_of(const std::string& name, const at::Tensor& live);

// Returns the safetensors name of a tensor type. Throws core::Error if the type cannot be stored.
const char* dtype_name(at::ScalarType type);
at::ScalarType scalar_type(const std::string& dtype);

}  // namespace flor::detail
