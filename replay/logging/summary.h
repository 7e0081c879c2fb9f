// What a tensor's values look like, in numbers. Pure: bytes in, numbers out.
//
// Equal bytes give equal bits, on every machine, with every compiler and however many threads the program
// has: all is computed in double precision, without fused operations, and summed in one fixed order (eight
// interleaved partial sums per chunk of 2,048 elements; the eight as ((0+4)+(2+6))+((1+5)+(3+7)); the
// chunks from the first to the last). The norm of values beyond about 1e154 overflows to infinity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace flor::logging {

struct Summary {
  uint64_t count = 0, nan = 0, inf = 0;
  // Of the finite values; null where there is none. Integers as integers.
  core::Json min, max, mean;
  double norm = 0;  // the square root of the sum of squares of the finite values
  // How many finite values fall into each of the equal parts of [min, max]: of B buckets, x is counted in
  // number ⌊(x − min) · (B / (max − min))⌋, computed in double, or the last. Where min = max, in the first.
  std::vector<uint64_t> histogram;
};

inline constexpr int max_buckets = 4096;

// `buckets`: 0 to max_buckets, 0 for no histogram. `bytes` needs no alignment. Throws core::Error for a dtype
// that is not one of those of docs/formats.md.
Summary summarise(const void* bytes, std::size_t count, const std::string& dtype, int buckets = 0);

// As it stands in a row.
core::Json to_json(const Summary& summary, const std::string& dtype, const std::vector<int64_t>& shape);

}  // namespace flor::logging
