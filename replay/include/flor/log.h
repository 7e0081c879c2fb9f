// flor::log, flor::arg, and what a program may ask about its own run.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "flor/archive.h"

namespace flor {

// The type of is_volatile.
struct Volatile {};
// Marks a row that no replay can reproduce, such as a measured time. It is not compared when a replay is
// checked against the record. flor::log("seconds", t, flor::is_volatile)
inline constexpr Volatile is_volatile{};

// How a tensor is logged: third argument of flor::log. flor::log copies the values. Another thread computes
// the statistics and writes files. Rows stay in program order all the same (docs/formats.md). The copies take
// 256 MiB at most (FLOR_LOG_MEMORY); then the call waits. Where the store hangs, a row of a recording gets an
// error instead of a value.
struct Observation {
  enum class Kind { summary, whole, image };
  Kind kind = Kind::summary;
  int buckets = 0;  // of the histogram; 0: none
};
// Logs count, NaNs and infinities; of the finite values minimum, maximum, mean and norm (the root of the sum
// of squares).
inline constexpr Observation summary{};
// Logs the summary, and how many values fall into each of `buckets` (limited to 1 to 4096) equal parts of
// [minimum, maximum].
constexpr Observation histogram(int buckets = 64) {
  return {Observation::Kind::summary, buckets < 1 ? 1 : buckets > 4096 ? 4096 : buckets};
}
// Logs the whole tensor, in a safetensors file that the row names. Here and for images: no file is written
// where neither a recording, a replay, FLOR_LOG nor a Logger keeps the row.
inline constexpr Observation whole{Observation::Kind::whole, 0};
// Logs a PNG file that the row names. The tensor is U8, or floating point from 0 to 1 (values outside are
// clipped, NaN is 0); HxW, HxWxC or CxHxW. 1 to 4 channels are gray, gray and alpha, RGB, RGBA. Where both
// ends could be channels, U8 is HxWxC, and floating point CxHxW.
inline constexpr Observation image{Observation::Kind::image, 0};

namespace detail {
// Returns the JSON text of a value; of NaN and infinities a string.
FLOR_API std::string text_of_integer(int64_t value);
FLOR_API std::string text_of_unsigned(uint64_t value);
FLOR_API std::string text_of_real(double value);
FLOR_API std::string text_of_text(const std::string& value);
FLOR_API std::string text_of_tensor(const at::Tensor& value);

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_floating_point_v<T>) {
    return text_of_real(static_cast<double>(value));
  } else if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T>) {
    return text_of_unsigned(value);
  } else if constexpr (std::is_integral_v<T>) {
    return text_of_integer(value);
  } else if constexpr (std::is_base_of_v<at::Tensor, T>) {
    return text_of_tensor(value);
  } else {
    return text_of_text(value);
  }
}

FLOR_API void log_text(const std::string& name, std::string text, bool is_volatile);
FLOR_API void log_observed(const std::string& name, const at::Tensor& value, Observation how,
                           bool is_volatile);

FLOR_API std::string argument(const std::string& name, const std::string& fallback);
FLOR_API std::string argument_text(double value);
FLOR_API int64_t parse_integer(const std::string& name, const std::string& text, int64_t fallback,
                               int64_t least, int64_t most);
FLOR_API double parse_real(const std::string& name, const std::string& text, double fallback);
FLOR_API bool parse_truth(const std::string& name, const std::string& text, bool fallback);
}  // namespace detail

// Logs a number, string or tensor under a name. The loops around it become columns of the row. Prints the row
// to stdout, except on the training thread of a replay. Where the process is neither recorded nor replayed,
// also writes it to the directory or file that FLOR_LOG names. Logs all values of a tensor with up to 1,024
// elements, a complex one with up to 512, as nested arrays (0 dimensions: a number; undefined: null; a
// complex number: a pair); of a larger one dtype, shape and digest, unless an Observation says otherwise. To
// read a GPU's tensor waits for the GPU. Throws std::exception for a tensor that cannot be read, such as a
// sparse one, outside flor, too; with an Observation, warns once instead, and the row holds the error.
template <class T>
void log(const std::string& name, const T& value) {
  detail::log_text(name, detail::text_of(value), false);
}
template <class T>
void log(const std::string& name, const T& value, Volatile) {
  detail::log_text(name, detail::text_of(value), true);
}
inline void log(const std::string& name, const at::Tensor& value, Observation how) {
  detail::log_observed(name, value, how, false);
}
inline void log(const std::string& name, const at::Tensor& value, Observation how, Volatile) {
  detail::log_observed(name, value, how, true);
}

// Returns a hyper-parameter: the NAME=VALUE that srun got as `--flor-arg`, flor record as `--arg`, or
// FLOR_ARGS holds (one on each line), else `fallback`. Does not read the program's own command line. A replay
// and a resumed recording use the recorded value. Warns and returns `fallback` for a text that is not a whole
// number in the range of T and below 2^63; not a real number, which "inf" and "nan" are; or not true, false,
// 1 or 0. A number has no '+' and no space in front.
template <class T>
T arg(const std::string& name, const T& fallback) {
  if constexpr (std::is_same_v<T, bool>) {
    return detail::parse_truth(name, detail::argument(name, fallback ? "true" : "false"), fallback);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(
        detail::parse_real(name, detail::argument(name, detail::argument_text(fallback)), fallback));
  } else {
    static_assert(std::is_integral_v<T>, "flor::arg takes numbers and strings");
    using Limits = std::numeric_limits<T>;
    constexpr bool wide = !std::is_signed_v<T> && sizeof(T) >= sizeof(int64_t);
    constexpr auto most = wide ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(Limits::max());
    return static_cast<T>(detail::parse_integer(name, detail::argument(name, std::to_string(fallback)),
                                                static_cast<int64_t>(fallback),
                                                static_cast<int64_t>(Limits::min()), most));
  }
}
inline std::string arg(const std::string& name, const std::string& fallback) {
  return detail::argument(name, fallback);
}
inline std::string arg(const std::string& name, const char* fallback) {
  return detail::argument(name, fallback);
}

// Returns whether this process was started to be recorded: so also before the first loop, and where another
// process of the launch keeps the record. False in a replay, and after the recording failed.
FLOR_API bool recording();
// Returns whether this process belongs to a replay, which should not overwrite what the recorded run wrote:
// if (!flor::replaying()) save(net, "model.pt");
// Stays true to its end, and in forked children.
FLOR_API bool replaying();

}  // namespace flor
