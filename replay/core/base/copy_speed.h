// Measures how fast this machine copies memory, for the cost model of checkpoints.
#pragma once

namespace flor::core {

// Seconds per byte of a nontemporal_copy() into memory that is already mapped, as staging memory is
// (Materializer::ready()). The first call measures for about a millisecond; later calls return its result.
// Thread-safe.
double copy_seconds_per_byte();

}  // namespace flor::core
