// Files that torch.load() opens: a zip archive of a pickle and of the tensors' bytes.
#pragma once

#include <filesystem>

#include "core/checkpoint/buffers.h"

namespace flor::exporting {

// A dict, name → tensor. Entries are stored, not compressed, and each tensor lies at a multiple of 64 bytes,
// as PyTorch's own writer does it, so that torch.load(mmap=True) can use the file as memory. What is of an
// unsigned type but U8 is written as I64, complex numbers are complex again. Durably, all or nothing. Throws
// core::UsageError where PyTorch has no such dtype, core::Error where it cannot be written.
void write_pytorch(const std::filesystem::path& path, const core::LoadedTensors& tensors);

}  // namespace flor::exporting
