// The pickle inside of a PyTorch file.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace flor::exporting {

// A tensor of the dict. Its bytes are the record `data/KEY` of the archive, KEY its place in the list.
struct PickledTensor {
  std::string name;
  std::string storage;  // "FloatStorage", see storage_of
  std::vector<int64_t> shape;
};

// Pairs of reals that are the parts of complex numbers. No dtypes of safetensors, which has none for them.
inline constexpr const char* complex_f32 = "complex F32";
inline constexpr const char* complex_f64 = "complex F64";

// PyTorch's name for a storage of a safetensors dtype, or of the two above; nothing where it has none.
std::optional<std::string> storage_of(const std::string& dtype);

// Pickle protocol 2 of {name: tensor}: each tensor contiguous, on the CPU, without gradient, as torch.save
// writes it (torch/_utils.py, _rebuild_tensor_v2; torch/serialization.py, persistent_id). Pure.
std::string pickled_dict(const std::vector<PickledTensor>& tensors);

}  // namespace flor::exporting
