// Reads the elements of a tensor as doubles. Exact, except 64-bit integers beyond 2^53.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "core/base/error.h"

namespace flor::logging {

// The bits of a float16 number.
struct Half {
  uint16_t bits;
};
// The bits of a bfloat16 number.
struct Brain {
  uint16_t bits;
};

inline float from_bits(uint32_t bits) {
  float out = 0;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}

inline float widen(Brain value) {
  return from_bits(uint32_t{value.bits} << 16);
}

// Has no branch, so that loops over it vectorise, and uses no subnormal floats, which are slow.
inline float widen(Half value) {
  constexpr uint32_t rebias = uint32_t{127 - 15} << 23, least_normal = uint32_t{1} << 23;
  constexpr uint32_t infinite = uint32_t{31} << 23;
  const uint32_t magnitude = (uint32_t{value.bits} & 0x7fffU) << 13;
  const float subnormal = from_bits(magnitude + rebias + least_normal) - from_bits(rebias + least_normal);
  const float normal = from_bits(magnitude + rebias + (magnitude >= infinite ? rebias : 0U));
  const float positive = magnitude < least_normal ? subnormal : normal;
  return (value.bits & 0x8000U) != 0 ? -positive : positive;
}

template <class Element>
double widened(Element element) {
  if constexpr (std::is_same_v<Element, Half> || std::is_same_v<Element, Brain>) {
    return static_cast<double>(widen(element));
  } else {
    return static_cast<double>(element);
  }
}

// Calls `call` with a value of the dtype's C++ type.
template <class Call>
void with_element(const std::string& dtype, Call call) {
  if (dtype == "F32") return call(float{});
  if (dtype == "F64") return call(double{});
  if (dtype == "F16") return call(Half{});
  if (dtype == "BF16") return call(Brain{});
  if (dtype == "I64") return call(int64_t{});
  if (dtype == "U64") return call(uint64_t{});
  if (dtype == "I32") return call(int32_t{});
  if (dtype == "U32") return call(uint32_t{});
  if (dtype == "I16") return call(int16_t{});
  if (dtype == "U16") return call(uint16_t{});
  if (dtype == "I8") return call(int8_t{});
  if (dtype == "U8" || dtype == "BOOL") return call(uint8_t{});
  throw core::Error("tensors of type " + dtype + " cannot be summarised");
}

}  // namespace flor::logging
