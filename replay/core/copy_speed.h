#pragma once

namespace flor::core {

// Seconds per byte of a copy into memory that was not used before, as staging memory is at a run's first
// checkpoint: page faults cost more than the copy. Measured at the first call, in a millisecond or so.
double cold_copy_seconds_per_byte();

}  // namespace flor::core
