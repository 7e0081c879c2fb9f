// Summarises the values of a tensor in numbers. Pure: bytes in, numbers out.
//
// Equal bytes give equal bits on every machine, with every compiler and any number of threads. Everything is
// computed in double precision, without fused operations, and summed in one fixed order: eight interleaved
// partial sums per chunk of 2,048 elements, combined as ((0+4)+(2+6))+((1+5)+(3+7)), and the chunks from
// first to last. The norm of values beyond about 1e154 overflows to infinity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace flor::logging {

struct Summary {
  uint64_t count = 0, nan = 0, inf = 0;
  // Of the finite values; null if there are none. Integers stay integers.
  core::Json min, max, mean;
  // Square root of the sum of squares of the finite values.
  double norm = 0;
  // How many finite values fall into each equal part of [min, max]. With B buckets, x counts in number ⌊(x −
  // min) · (B / (max − min))⌋, computed in double, or in the last one. If min = max: in the first.
  std::vector<uint64_t> histogram;
};

inline constexpr int max_buckets = 4096;

// `buckets`: 0 to max_buckets, 0 for no histogram. `bytes` needs no alignment. Throws core::Error for a dtype
// that docs/formats.md does not list.
Summary summarise(const void* bytes, std::size_t count, const std::string& dtype, int buckets = 0);

// Returns the summary as it stands in a row.
core::Json to_json(const Summary& summary, const std::string& dtype, const std::vector<int64_t>& shape);

}  // namespace flor::logging
