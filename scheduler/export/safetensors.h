// Writes plain safetensors files (https://github.com/huggingface/safetensors), for `flor export`.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/checkpoint/buffers.h"

namespace flor::exporting {

using Metadata = std::map<std::string, std::string>;

struct SafetensorsLayout {
  // Length prefix, JSON, padding.
  std::string header;
  // The names of the tensors, in the order of their bytes after the header.
  std::vector<std::string> order;
};

// Puts larger elements first, as the library of the format does, so each tensor is aligned. Pure.
SafetensorsLayout safetensors_layout(const core::LoadedTensors& tensors, const Metadata& metadata);

// Writes durably, all or nothing. Throws std::system_error naming the path.
void write_safetensors(const std::filesystem::path& path, const core::LoadedTensors& tensors,
                       const Metadata& metadata);

}  // namespace flor::exporting
