#pragma once

namespace flor::core {

// Seconds per byte of a copy into memory that is there, as staging memory is (Materializer::ready()).
// Measured at the first call, in a millisecond or so.
double copy_seconds_per_byte();

}  // namespace flor::core
