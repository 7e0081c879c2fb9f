// Makes the pickle inside a PyTorch file (export/pytorch.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace flor::exporting {

// A tensor of the dict. The record `data/KEY` of the archive holds its bytes; KEY is its position in the
// list.
struct PickledTensor {
  std::string name;
  // As returned by storage_of(): "FloatStorage".
  std::string storage;
  std::vector<int64_t> shape;
};

// Names for pairs of reals that are complex numbers, because safetensors has no dtypes for these.
inline constexpr const char* complex_f32 = "complex F32";
inline constexpr const char* complex_f64 = "complex F64";

// Returns PyTorch's name for the storage of a safetensors dtype, or of the two above; nullopt if PyTorch has
// none.
std::optional<std::string> storage_of(const std::string& dtype);

// Returns pickle protocol 2 of {name: tensor}: each tensor contiguous, on the CPU, without gradient, as
// torch.save writes it (torch/_utils.py, _rebuild_tensor_v2; torch/serialization.py, persistent_id). Pure.
std::string pickled_dict(const std::vector<PickledTensor>& tensors);

}  // namespace flor::exporting
