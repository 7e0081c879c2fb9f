#include "logging/summary.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "core/base/error.h"
#include "logging/elements.h"

namespace flor::logging {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class T>
Summary summary_of(const std::vector<T>& values, const std::string& dtype, int buckets = 0) {
  return summarise(values.data(), values.size(), dtype, buckets);
}

template <class T>
std::string text_of(const std::vector<T>& values, const std::string& dtype, int buckets = 0) {
  return core::json_text(
      to_json(summary_of(values, dtype, buckets), dtype, {static_cast<int64_t>(values.size())}));
}

std::vector<float> normal(std::size_t count) {
  std::mt19937 generator(7);
  std::normal_distribution<float> distribution(0.1F, 2.0F);
  std::vector<float> out(count);
  for (auto& value : out) value = distribution(generator);
  return out;
}

// The rules of summary.h a second time, element by element.
Summary reference(const std::vector<double>& values, int buckets) {
  Summary out;
  out.count = values.size();
  out.histogram.assign(static_cast<std::size_t>(buckets), 0);
  double low = infinity, high = -infinity, sum = 0, squares = 0;
  uint64_t finite = 0;
  for (std::size_t begin = 0; begin < values.size(); begin += 2048) {
    double sums[8] = {}, square_sums[8] = {};
    for (std::size_t i = begin; i < std::min(values.size(), begin + 2048); ++i) {
      const double x = values[i];
      if (std::isnan(x)) ++out.nan;
      if (std::isinf(x)) ++out.inf;
      if (!std::isfinite(x)) continue;
      ++finite;
      low = std::min(low, x);
      high = std::max(high, x);
      sums[i % 8] += x;
      const double square = x * x;
      square_sums[i % 8] += square;
    }
    auto added = [](const double* v) {
      return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
    };
    sum += added(sums);
    squares += added(square_sums);
  }
  out.norm = std::sqrt(squares);
  if (finite == 0) return out;
  out.min = low;
  out.max = high;
  out.mean = sum / static_cast<double>(finite);
  for (double x : values) {
    if (!std::isfinite(x) || buckets == 0) continue;
    const double place = high > low ? (x - low) * (buckets / (high - low)) : 0;
    ++out.histogram[std::min(static_cast<std::size_t>(place), out.histogram.size() - 1)];
  }
  return out;
}

void expect_equal(const Summary& got, const Summary& wanted) {
  EXPECT_EQ(core::json_text(to_json(got, "F64", {})), core::json_text(to_json(wanted, "F64", {})));
}

TEST(Summary, TheDocumentedOrderOfSummationToTheBit) {
  for (const std::size_t count : {1U, 7U, 8U, 9U, 2047U, 2048U, 2049U, 20001U}) {
    std::vector<float> values = normal(count);
    values[count / 2] = std::numeric_limits<float>::quiet_NaN();
    values[count / 3] = -std::numeric_limits<float>::infinity();
    const std::vector<double> wide(values.begin(), values.end());
    expect_equal(summary_of(values, "F32", 64), reference(wide, 64));
    expect_equal(summary_of(wide, "F64", 7), reference(wide, 7));
    expect_equal(summary_of(wide, "F64", 0), reference(wide, 0));
  }
}

TEST(Summary, BytesNeedNoAlignment) {
  const std::vector<float> values = normal(5000);
  std::vector<unsigned char> shifted(values.size() * 4 + 1);
  std::memcpy(shifted.data() + 1, values.data(), values.size() * 4);
  expect_equal(summarise(shifted.data() + 1, values.size(), "F32", 16), summary_of(values, "F32", 16));
}

// A program may set these for its own threads; its rows would then depend on where they are computed.
TEST(Summary, TheProgramsRoundingChangesNothing) {
  std::vector<float> values = normal(1000);
  for (std::size_t i = 0; i < 100; ++i) values[i] *= 1e-40F;  // subnormal
  const std::string expected = text_of(values, "F32", 32);
  std::fesetround(FE_UPWARD);
#if defined(__SSE__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040U);  // subnormal numbers count as zero
#endif
  const std::string upward = text_of(values, "F32", 32);
  const int rounding = std::fegetround();
  std::fesetenv(FE_DFL_ENV);
  EXPECT_EQ(upward, expected);
  EXPECT_EQ(rounding, FE_UPWARD);  // and is put back
}

TEST(Summary, EveryHalfIsWidenedExactly) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const int exponent = static_cast<int>(bits >> 10 & 31U), fraction = static_cast<int>(bits & 1023U);
    double expected = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) expected = fraction == 0 ? infinity : not_a_number;
    if ((bits & 0x8000U) != 0) expected = -expected;
    const auto got = static_cast<double>(widen(Half{static_cast<uint16_t>(bits)}));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(got)) << bits;
    } else {
      EXPECT_EQ(got, expected) << bits;
      EXPECT_EQ(std::signbit(got), std::signbit(expected)) << bits;
    }
  }
}

TEST(Summary, EveryTypeIsReadAsItIs) {
  const std::vector<uint16_t> half = {0x3c00, 0xc000, 0x7e00, 0x7c00};   // 1, -2, NaN, infinity
  const std::vector<uint16_t> brain = {0x3f80, 0xc000, 0x7fc0, 0xff80};  // 1, -2, NaN, -infinity
  for (const auto& [values, dtype] : {std::pair(half, "F16"), std::pair(brain, "BF16")}) {
    const Summary summary = summary_of(values, dtype, 2);
    EXPECT_EQ(core::json_text(to_json(summary, dtype, {4})),
              "{\"dtype\":\"" + std::string(dtype) +
                  "\",\"shape\":[4],\"count\":4,\"nan\":1,\"inf\":1,\"min\":-2.0,\"max\":1.0,\"mean\":-0.5,"
                  "\"norm\":2.23606797749979,\"histogram\":[1,1]}");
  }
  EXPECT_EQ(summary_of(std::vector<int8_t>{-128, 127}, "I8").min, -128);
  EXPECT_EQ(summary_of(std::vector<uint8_t>{200, 255}, "U8").max, 255);
  EXPECT_EQ(summary_of(std::vector<uint8_t>{0, 1, 1, 0}, "BOOL").mean, 0.5);
  EXPECT_EQ(summary_of(std::vector<int16_t>{-32768, 5}, "I16").min, -32768);
  EXPECT_EQ(summary_of(std::vector<uint16_t>{65535}, "U16").mean, 65535.0);
  EXPECT_EQ(summary_of(std::vector<int32_t>{2147483647, -1}, "I32").max, 2147483647);
  EXPECT_EQ(summary_of(std::vector<uint32_t>{4294967295U}, "U32").mean, 4294967295.0);
  EXPECT_THROW(summary_of(std::vector<uint8_t>{1}, "F8_E4M3"), core::Error);
}

TEST(Summary, LimitsOfWideIntegersAreExact) {
  const std::vector<int64_t> values = {(int64_t{1} << 53) + 1, std::numeric_limits<int64_t>::min()};
  const Summary summary = summary_of(values, "I64", 4);
  EXPECT_EQ(summary.max.get<int64_t>(), values[0]);
  EXPECT_EQ(summary.min.get<int64_t>(), values[1]);
  EXPECT_EQ(summary.histogram, (std::vector<uint64_t>{1, 0, 0, 1}));
  EXPECT_EQ(summary_of(std::vector<uint64_t>{~uint64_t{0}}, "U64").max.get<uint64_t>(), ~uint64_t{0});
}

TEST(Summary, WithoutFiniteValuesThereIsNothingToSay) {
  EXPECT_EQ(text_of(std::vector<float>{}, "F32", 2),
            "{\"dtype\":\"F32\",\"shape\":[0],\"count\":0,\"nan\":0,\"inf\":0,\"min\":null,\"max\":null,"
            "\"mean\":null,\"norm\":0.0,\"histogram\":[0,0]}");
  const Summary summary = summary_of(std::vector<double>{not_a_number, -infinity, infinity}, "F64", 2);
  EXPECT_EQ(summary.nan, 1U);
  EXPECT_EQ(summary.inf, 2U);
  EXPECT_TRUE(summary.min.is_null() && summary.mean.is_null());
}

TEST(Summary, HistogramsOfExtremes) {
  const double most = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
  using Counts = std::vector<uint64_t>;
  EXPECT_EQ(summary_of(std::vector<double>{-most, 0, most, infinity}, "F64", 4).histogram,
            (Counts{1, 0, 1, 1}));
  EXPECT_EQ(summary_of(std::vector<double>{0, least, 3 * least, 4 * least}, "F64", 4).histogram,
            (Counts{1, 1, 0, 2}));
  EXPECT_EQ(summary_of(std::vector<double>{2, 2, 2}, "F64", 3).histogram, (Counts{3, 0, 0}));
  EXPECT_EQ(summary_of(std::vector<float>{0, 0.25F, 0.5F, 1}, "F32", 1).histogram, (Counts{4}));
  EXPECT_THROW(summary_of(std::vector<float>{1}, "F32", max_buckets + 1), core::Error);
  EXPECT_THROW(summary_of(std::vector<float>{1}, "F32", -1), core::Error);
}

}  // namespace
}  // namespace flor::logging
