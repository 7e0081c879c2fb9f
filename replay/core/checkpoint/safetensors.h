// The format that checkpoints, exported files and logged tensors share
// (https://github.com/huggingface/safetensors). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace flor::core {

// What a header says of one tensor. Its bytes are [begin, end) behind the header.
Json safetensors_entry(const std::string& dtype, const std::vector<int64_t>& shape, std::uint64_t begin,
                       std::uint64_t end);

// The header's length, its text, and blanks, so that the data begins at a multiple of `alignment`.
std::string safetensors_head(const std::string& json, std::size_t alignment = 8);

}  // namespace flor::core
