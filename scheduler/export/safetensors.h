// Writes plain safetensors files (https://github.com/huggingface/safetensors).
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
  // Of the bytes of the tensors after it.
  std::vector<std::string> order;
};

// Puts larger elements first, as the library of the format does, so each tensor is aligned. Pure.
SafetensorsLayout safetensors_layout(const core::LoadedTensors& tensors, const Metadata& metadata);

// Writes durably, all or nothing. Throws std::system_error naming the path.
void write_safetensors(const std::filesystem::path& path, const core::LoadedTensors& tensors,
                       const Metadata& metadata);

}  // namespace flor::exporting
