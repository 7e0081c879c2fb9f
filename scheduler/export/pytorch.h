// Writes files that torch.load() opens: a zip archive with a pickle and the bytes of the tensors.
#pragma once

#include <filesystem>

#include "core/checkpoint/buffers.h"

namespace flor::exporting {

// Writes a dict, name → tensor, durably, all or nothing. Entries are stored uncompressed, and each tensor
// lies at a multiple of 64 bytes as PyTorch writes it, so torch.load(mmap=True) can map the file. Unsigned
// types other than U8 become I64. Complex numbers become complex again. Throws core::UsageError if PyTorch
// has no such dtype, core::Error if the file cannot be written.
void write_pytorch(const std::filesystem::path& path, const core::LoadedTensors& tensors);

}  // namespace flor::exporting
