// Plain safetensors files (https://github.com/huggingface/safetensors).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/checkpoint/buffers.h"

namespace flor::exporting {

using Metadata = std::map<std::string, std::string>;

struct SafetensorsLayout {
  std::string header;              // length prefix, JSON, padding
  std::vector<std::string> order;  // of the tensors' bytes behind it
};

// Larger elements first, as the format's own library has it: so each tensor is aligned to its elements. Pure.
SafetensorsLayout safetensors_layout(const core::LoadedTensors& tensors, const Metadata& metadata);

// Durably, all or nothing. Throws std::system_error that names the path.
void write_safetensors(const std::filesystem::path& path, const core::LoadedTensors& tensors,
                       const Metadata& metadata);

}  // namespace flor::exporting
