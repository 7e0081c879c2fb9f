#include "core/policy/cost_model.h"

#include <algorithm>
#include <cmath>

namespace flor::core {
namespace {

constexpr std::size_t remembered = 63;
constexpr std::size_t few = 5;
// After so many executions in a row below half the median, or above twice, the block has changed.
constexpr int change = 3;
// With many values, medians are computed only now and then: an execution may take only a millisecond.
constexpr std::size_t many = 16;
constexpr int renew_every = 8;
constexpr double fixed_prior = 0.5e-3;
constexpr double per_byte_prior = 1.0 / 1.0e9;

// The standard error of the median, squared: (π / 2) σ² / n for normal values, with σ = 1.4826 · the median
// absolute deviation.
double squared_error_of(double centre, std::deque<double> values) {
  for (double& value : values) value = std::abs(value - centre);
  const double sigma = 1.4826 * median(values);
  return 1.5708 * sigma * sigma / static_cast<double>(values.size());
}

}  // namespace

double median(std::deque<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void ByteCost::Recent::add(double value) {
  values.push_back(value);
  if (values.size() > 3) values.pop_front();
  least = *std::min_element(values.begin(), values.end());
  expected = std::max(value, median(values));
}

ByteCost::ByteCost() : fixed_(fixed_prior), per_byte_(per_byte_prior) {}

double ByteCost::of(std::size_t bytes) const {
  return fixed_.expected + per_byte_.expected * static_cast<double>(bytes);
}

double ByteCost::least(std::size_t bytes) const {
  return fixed_.least + per_byte_.least * static_cast<double>(bytes);
}

void ByteCost::measured(double seconds, std::size_t bytes) {
  const double variable = per_byte_.expected * static_cast<double>(bytes);
  if (variable > fixed_.expected) {
    per_byte_.add(std::max(0.0, seconds - fixed_.expected) / static_cast<double>(bytes));
  } else {
    fixed_.add(std::max(0.0, seconds - variable));
  }
}

void CostModel::prior(double seconds_per_byte) {
  stall_.prior(seconds_per_byte);
  write_.prior(seconds_per_byte);
}

bool Interference::Sample::enough() const {
  return values_.size() >= few;
}

bool Interference::Sample::unlike(double seconds) const {
  return enough() && (seconds < median / 2 || seconds > median * 2);
}

void Interference::Sample::add(double seconds) {
  values_.push_back(seconds);
  if (values_.size() > remembered) values_.pop_front();
  if (values_.size() > many && ++added_ % renew_every != 0) return;
  median = core::median(values_);
  squared_error = squared_error_of(median, values_);
}

void Interference::executed(double seconds, bool overlapped) {
  Sample& same = overlapped ? overlapped_ : alone_;
  changed_ = same.unlike(seconds) ? changed_ + 1 : 0;
  if (changed_ == change) *this = Interference();
  same.add(seconds);
}

double Interference::of(double bound) const {
  if (!overlapped_.enough() || !alone_.enough()) return bound;
  const double noise = std::sqrt(overlapped_.squared_error + alone_.squared_error);
  if (noise > bound / 2) return bound;
  const double difference = overlapped_.median - alone_.median;
  return difference > noise ? std::min(difference, bound) : 0;
}

void CostModel::stalled(double stall, std::size_t copied) {
  stall_.measured(stall, copied);
}

void CostModel::wrote(double processor, double elapsed, std::size_t copied) {
  write_.measured(processor, copied);
  elapsed_.measured(elapsed, copied);
}

double CostModel::interference(std::size_t copied) const {
  return interference_.of(write_.of(copied));
}

double CostModel::expected(std::size_t copied) const {
  return stall_.of(copied) + interference(copied);
}

double CostModel::wait(std::size_t copied) const {
  return std::max(0.0, elapsed_.of(copied) - interference(copied));
}

double CostModel::least(std::size_t copied) const {
  return stall_.least(copied) + std::min(interference(copied), write_.least(copied));
}

}  // namespace flor::core
