#include "core/policy.h"

#include <algorithm>
#include <cmath>

namespace flor::core {
namespace {

constexpr std::size_t window = 15;
constexpr std::size_t enough = 3;
// Before the first measurement: a copy into cold memory and its page faults, in seconds per byte.
constexpr double cold_copy = 1.0 / 1.0e9;
constexpr double fixed_cost = 0.5e-3;

// The present cost follows a change within a few checkpoints, yet one outlier does not decide.
double blend(double old, double fresh) {
  return old < 0 ? fresh : 0.5 * old + 0.5 * fresh;
}

void remember(std::deque<double>& values, double value) {
  values.push_back(value);
  if (values.size() > window) values.pop_front();
}

double deviation(const std::deque<double>& values) {
  const double centre = median(values);
  std::deque<double> distances;
  for (double value : values) distances.push_back(std::abs(value - centre));
  return median(distances);
}

}  // namespace

double median(std::deque<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double allowance(double c, double epsilon) {
  return std::min(1.0 / (1.0 + c), epsilon);
}

bool equation_4(double M, double C, int64_t n, int64_t k, double c, double epsilon) {
  return M / C < static_cast<double>(n) / static_cast<double>(k + 1) * allowance(c, epsilon);
}

void Account::earn(double seconds, double g, double share, double expected_cost) {
  const double earned = seconds * g * share;
  const double most = std::max(credit_, std::max(earned, hoard * expected_cost));
  credit_ = std::min(credit_ + earned, most);
}

Decision Account::decide(double expected_cost) const {
  Decision decision;
  decision.credit = credit_;
  decision.materialize = expected_cost < credit_;
  decision.why = decision.materialize ? "its cost fits into what the block's time allows"
                                      : "its cost would exceed what the time computed so far allows";
  return decision;
}

void CostModel::executed(double seconds, bool overlapped) {
  remember(overlapped ? overlapped_ : alone_, seconds);
}

void CostModel::stalled(double stall, std::size_t bytes) {
  stall_per_byte_ = blend(stall_per_byte_, stall / static_cast<double>(std::max<std::size_t>(bytes, 1)));
  last_cost_ = stall + interference(bytes);
}

void CostModel::wrote(double processor_seconds, std::size_t bytes) {
  write_per_byte_ =
      blend(write_per_byte_, processor_seconds / static_cast<double>(std::max<std::size_t>(bytes, 1)));
}

void CostModel::restored(double seconds) {
  restore_ = blend(restore_, seconds);
}

double CostModel::interference(std::size_t bytes) const {
  const double bound = write_per_byte_ < 0 ? 0 : write_per_byte_ * static_cast<double>(bytes);
  if (overlapped_.size() < enough || alone_.size() < enough) return bound;
  const double difference = median(overlapped_) - median(alone_);
  const double noise = std::max(deviation(overlapped_), deviation(alone_));
  return difference > noise ? std::min(difference, bound) : 0;
}

double CostModel::expected(std::size_t bytes) const {
  const double per_byte = stall_per_byte_ < 0 ? cold_copy : stall_per_byte_;
  const double fixed = stall_per_byte_ < 0 ? fixed_cost : 0;
  return fixed + per_byte * static_cast<double>(bytes) + interference(bytes);
}

double CostModel::c() const {
  return restore_ < 0 || last_cost_ <= 0 ? 1.38 : restore_ / last_cost_;
}

}  // namespace flor::core
