// Decides whether a device has room for the copies that snapshots make. Free of any device's interface.
#pragma once

#include <cstddef>

namespace flor::core {

// The memory of one device, in bytes.
struct DeviceMemory {
  std::size_t free = 0;       // taken by no process
  std::size_t reserved = 0;   // taken by this process: in use, or kept to be used again
  std::size_t allocated = 0;  // of these, in use now
  std::size_t peak = 0;       // the most that was ever in use
  std::size_t copies = 0;     // of what is in use, copies of earlier snapshots
};

// Left to everything that is not counted, such as kernels and libraries.
constexpr std::size_t device_margin = std::size_t{1} << 30;

// Returns whether a copy of `bytes` bytes leaves training what it may need before the copy is drained, which
// takes seconds: as much as it ever had in use. Before training has computed anything, that is not known;
// then returns false, and the checkpoint is copied to the host at once. Motivation: a copy is served from the
// memory that the process has reserved. So what is free stays the same, while training finds its own memory
// gone.
constexpr bool has_room_for_copy(const DeviceMemory& memory, std::size_t bytes) {
  const std::size_t training = memory.allocated > memory.copies ? memory.allocated - memory.copies : 0;
  if (memory.peak < training + training / 50) return false;
  return memory.free + memory.reserved >= memory.peak + device_margin + memory.copies + bytes;
}

}  // namespace flor::core
