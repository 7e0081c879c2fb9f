// Compiled with -O3 -ffp-contract=off (CMakeLists.txt): a fused multiply-add would change the bits.
#include "logging/summary.h"

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/base/error.h"
#include "logging/elements.h"

namespace flor::logging {
namespace {

constexpr std::size_t lanes = 8;
constexpr std::size_t chunk = 2048;  // elements: as doubles they stay in the first cache

// What every machine that we know has in one register; eight lanes are four of these.
typedef double Pair __attribute__((vector_size(16)));
constexpr std::size_t pairs = lanes / 2;

// The program may have set another rounding mode, or treat subnormal numbers as zero. Threads inherit that.
class DefaultArithmetic {
 public:
  DefaultArithmetic() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultArithmetic() { std::fesetenv(&before_); }
  DefaultArithmetic(const DefaultArithmetic&) = delete;
  DefaultArithmetic& operator=(const DefaultArithmetic&) = delete;

 private:
  std::fenv_t before_{};
};

struct Totals {
  uint64_t nan = 0, inf = 0;
  double min = std::numeric_limits<double>::infinity(), max = -min;
  double sum = 0, squares = 0;
};

double added(const std::array<double, lanes>& lane) {
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// The partial sums of one chunk.
class Chunk {
 public:
  void add(const double* values, std::size_t count, Totals& totals) {
    const std::size_t whole = count / lanes * lanes;
    if (add_finite(values, whole)) {
      add_any(values, whole, count, totals);
      totals.min = std::min(totals.min, low_);
      totals.max = std::max(totals.max, high_);
    } else {
      add_any(values, 0, count, totals);
    }
    totals.sum += added(sum_);
    totals.squares += added(squares_);
  }

 private:
  // The usual case. Returns false and does nothing if a value is not finite.
  bool add_finite(const double* values, std::size_t count) {
    std::array<Pair, pairs> sum{}, squares{}, strange{};
    for (std::size_t i = 0; i < count; i += lanes) {
      for (std::size_t k = 0; k < pairs; ++k) {
        Pair x;
        std::memcpy(&x, values + i + 2 * k, sizeof x);
        sum[k] += x;
        squares[k] += x * x;
        strange[k] += x - x;  // 0, or NaN for a value that is not finite
      }
    }
    const Pair any = (strange[0] + strange[1]) + (strange[2] + strange[3]);
    if (any[0] != 0 || any[1] != 0) return false;
    std::memcpy(sum_.data(), sum.data(), sizeof sum_);
    std::memcpy(squares_.data(), squares.data(), sizeof squares_);
    find_limits(values, count);
    return true;
  }

  void find_limits(const double* values, std::size_t count) {
    std::array<Pair, pairs> low, high;
    low.fill(Pair{} + low_);
    high.fill(Pair{} + high_);
    for (std::size_t i = 0; i < count; i += lanes) {
      for (std::size_t k = 0; k < pairs; ++k) {
        Pair x;
        std::memcpy(&x, values + i + 2 * k, sizeof x);
        low[k] = x < low[k] ? x : low[k];
        high[k] = x > high[k] ? x : high[k];
      }
    }
    for (std::size_t k = 0; k < pairs; ++k) {
      low_ = std::min({low_, low[k][0], low[k][1]});
      high_ = std::max({high_, high[k][0], high[k][1]});
    }
  }

  void add_any(const double* values, std::size_t begin, std::size_t end, Totals& totals) {
    for (std::size_t i = begin; i < end; ++i) {
      const double x = values[i];
      if (std::isnan(x)) {
        ++totals.nan;
      } else if (std::isinf(x)) {
        ++totals.inf;
      } else {
        sum_[i % lanes] += x;
        squares_[i % lanes] += x * x;
        totals.min = std::min(totals.min, x);
        totals.max = std::max(totals.max, x);
      }
    }
  }

  std::array<double, lanes> sum_{}, squares_{};
  double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
};

// Counts finite values by bucket. Uses four tables, so that runs of equal values do not wait for one counter.
class Buckets {
 public:
  Buckets(int buckets, const Totals& totals) : finite_(totals.nan + totals.inf == 0), buckets_(buckets) {
    // Scaled by a power of two where the width would overflow, or its reciprocal: exact, either way.
    const double width = totals.max - totals.min;
    factor_ = !std::isfinite(width) ? 0.5 : width < 0x1p-900 ? 0x1p900 : 1.0;
    low_ = totals.min * factor_;
    const double scaled = totals.max * factor_ - low_;
    scale_ = scaled > 0 ? buckets / scaled : 0;
    for (auto& table : tables_) table.assign(static_cast<std::size_t>(buckets), 0);
  }

  void add(const double* values, std::size_t count) {
    alignas(64) std::array<int32_t, chunk> index;
    const double last = buckets_ - 1;
    std::size_t kept = count;
    if (finite_) {
      for (std::size_t i = 0; i < count; ++i) index[i] = place(values[i], last);
    } else {
      kept = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (std::isfinite(values[i])) index[kept++] = place(values[i], last);
      }
    }
    const std::size_t whole = kept / 4 * 4;
    for (std::size_t i = 0; i < whole; i += 4) {
      for (std::size_t k = 0; k < 4; ++k) ++tables_[k][static_cast<std::size_t>(index[i + k])];
    }
    for (std::size_t i = whole; i < kept; ++i) ++tables_[0][static_cast<std::size_t>(index[i])];
  }

  std::vector<uint64_t> counts() const {
    std::vector<uint64_t> out(static_cast<std::size_t>(buckets_), 0);
    for (const auto& table : tables_) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += table[i];
    }
    return out;
  }

 private:
  int32_t place(double value, double last) const {
    const double at = (value * factor_ - low_) * scale_;
    return static_cast<int32_t>(at < last ? at : last);
  }

  bool finite_;
  int buckets_;
  double factor_ = 1, low_ = 0, scale_ = 0;
  std::array<std::vector<uint64_t>, 4> tables_;
};

// Calls `call` with each chunk as doubles.
template <class Element, class Call>
void for_each_chunk(const unsigned char* bytes, std::size_t count, Call call) {
  alignas(64) std::array<Element, chunk> raw;
  alignas(64) std::array<double, chunk> wide;
  for (std::size_t begin = 0; begin < count; begin += chunk) {
    const std::size_t size = std::min(chunk, count - begin);
    std::memcpy(raw.data(), bytes + begin * sizeof(Element), size * sizeof(Element));
    for (std::size_t i = 0; i < size; ++i) wide[i] = widened(raw[i]);
    call(wide.data(), size);
  }
}

// Exact for 64-bit integers as well.
template <class Element>
void integer_limits(const unsigned char* bytes, std::size_t count, Summary& out) {
  Element low = std::numeric_limits<Element>::max(), high = std::numeric_limits<Element>::min();
  for (std::size_t i = 0; i < count; ++i) {
    Element x;
    std::memcpy(&x, bytes + i * sizeof x, sizeof x);
    low = std::min(low, x);
    high = std::max(high, x);
  }
  out.min = low;
  out.max = high;
}

template <class Element>
Summary summary_of(const unsigned char* bytes, std::size_t count, int buckets) {
  Totals totals;
  for_each_chunk<Element>(bytes, count,
                          [&](const double* values, std::size_t size) { Chunk().add(values, size, totals); });
  Summary out;
  out.count = count;
  out.nan = totals.nan;
  out.inf = totals.inf;
  out.norm = std::sqrt(totals.squares);
  out.histogram.assign(static_cast<std::size_t>(buckets), 0);
  const uint64_t finite = count - totals.nan - totals.inf;
  if (finite == 0) return out;
  out.mean = totals.sum / static_cast<double>(finite);
  if constexpr (std::is_integral_v<Element>) {
    integer_limits<Element>(bytes, count, out);
  } else {
    out.min = totals.min;
    out.max = totals.max;
  }
  if (buckets == 0) return out;
  Buckets histogram(buckets, totals);
  for_each_chunk<Element>(bytes, count,
                          [&](const double* values, std::size_t size) { histogram.add(values, size); });
  out.histogram = histogram.counts();
  return out;
}

}  // namespace

Summary summarise(const void* bytes, std::size_t count, const std::string& dtype, int buckets) {
  if (buckets < 0 || buckets > max_buckets) {
    throw core::Error("a histogram has 1 to " + std::to_string(max_buckets) + " buckets, not " +
                      std::to_string(buckets));
  }
  const DefaultArithmetic arithmetic;
  Summary out;
  with_element(dtype, [&](auto element) {
    out = summary_of<decltype(element)>(static_cast<const unsigned char*>(bytes), count, buckets);
  });
  return out;
}

core::Json to_json(const Summary& summary, const std::string& dtype, const std::vector<int64_t>& shape) {
  core::Json out = {{"dtype", dtype},     {"shape", shape},       {"count", summary.count},
                    {"nan", summary.nan}, {"inf", summary.inf},   {"min", summary.min},
                    {"max", summary.max}, {"mean", summary.mean}, {"norm", summary.norm}};
  if (!summary.histogram.empty()) out["histogram"] = summary.histogram;
  return out;
}

}  // namespace flor::logging
