// flor::log, flor::arg, and what a program may ask about its own run.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "flor/archive.h"

namespace flor {

struct Volatile {};
// flor::log("seconds", t, flor::is_volatile): a row that no replay can reproduce; the verdict leaves it out.
inline constexpr Volatile is_volatile{};

namespace detail {
FLOR_API void log_integer(const std::string& name, int64_t value, bool is_volatile);
FLOR_API void log_unsigned(const std::string& name, uint64_t value, bool is_volatile);
FLOR_API void log_real(const std::string& name, double value, bool is_volatile);
FLOR_API void log_truth(const std::string& name, bool value, bool is_volatile);
FLOR_API void log_text(const std::string& name, const std::string& value, bool is_volatile);
FLOR_API void log_tensor(const std::string& name, const at::Tensor& value, bool is_volatile);

template <class T>
void log(const std::string& name, const T& value, bool is_volatile) {
  if constexpr (std::is_same_v<T, bool>) {
    log_truth(name, value, is_volatile);
  } else if constexpr (std::is_floating_point_v<T>) {
    log_real(name, static_cast<double>(value), is_volatile);
  } else if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T>) {
    log_unsigned(name, value, is_volatile);
  } else if constexpr (std::is_integral_v<T>) {
    log_integer(name, value, is_volatile);
  } else if constexpr (std::is_base_of_v<at::Tensor, T>) {
    log_tensor(name, value, is_volatile);
  } else {
    log_text(name, value, is_volatile);
  }
}

FLOR_API std::string argument(const std::string& name, const std::string& otherwise);
FLOR_API std::string argument_text(double value);
FLOR_API int64_t parse_integer(const std::string& name, const std::string& text, int64_t otherwise);
FLOR_API double parse_real(const std::string& name, const std::string& text, double otherwise);
FLOR_API bool parse_truth(const std::string& name, const std::string& text, bool otherwise);
}  // namespace detail

// Logs a number, string or tensor under a name, with the loops around it as its columns. Outside flor it
// prints.
template <class T>
void log(const std::string& name, const T& value) {
  detail::log(name, value, false);
}
template <class T>
void log(const std::string& name, const T& value, Volatile) {
  detail::log(name, value, true);
}

// A hyper-parameter: from `--flor-arg name=value` or FLOR_ARGS, else `otherwise`; on replay from the record.
// A text that is no such number is said once, and `otherwise` is used.
template <class T>
T arg(const std::string& name, const T& otherwise) {
  if constexpr (std::is_same_v<T, bool>) {
    return detail::parse_truth(name, detail::argument(name, otherwise ? "true" : "false"), otherwise);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(
        detail::parse_real(name, detail::argument(name, detail::argument_text(otherwise)), otherwise));
  } else {
    static_assert(std::is_integral_v<T>, "flor::arg takes numbers and strings");
    return static_cast<T>(detail::parse_integer(name, detail::argument(name, std::to_string(otherwise)),
                                                static_cast<int64_t>(otherwise)));
  }
}
inline std::string arg(const std::string& name, const std::string& otherwise) {
  return detail::argument(name, otherwise);
}
inline std::string arg(const std::string& name, const char* otherwise) {
  return detail::argument(name, otherwise);
}

// So that a replay does not overwrite what the recorded run wrote: if (!flor::replaying()) save(net,
// "model.pt");
FLOR_API bool recording();
FLOR_API bool replaying();

}  // namespace flor
