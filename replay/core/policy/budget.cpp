#include "core/policy/budget.h"

#include <algorithm>
#include <limits>

namespace flor::core {

int64_t Budget::executed(double seconds) {
  // What the writer took from training was measured as computing, and earns no allowance.
  const double computed = std::max(0.0, seconds - taken_);
  taken_ -= seconds - computed;
  computed_ += computed;
  recent_.push_back({computed, early_});
  early_ = 0;
  if (recent_.size() > window) recent_.pop_front();
  return ++executions_;
}

void Budget::pay(int64_t number, double stall, double interference) {
  paid_ += stall + interference;
  taken_ += interference;
  if (number == 0 && executions_ == 0) {
    early_ += stall + interference;
    return;
  }
  const auto age = static_cast<std::size_t>(executions_ - std::max<int64_t>(number, 1));
  if (age < recent_.size()) recent_[recent_.size() - 1 - age].cost += stall + interference;
}

double Budget::shortest(std::size_t executions) const {
  double whole = 0;
  for (const auto& execution : recent_) whole += execution.seconds;
  const std::size_t known = recent_.size();
  if (known == 0) return 0;
  const std::size_t rest = executions % known;
  double least = std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::size_t i = 0; i < known; ++i) {
    sum += recent_[i].seconds;
    if (i >= rest) sum -= recent_[i - rest].seconds;
    if (i + 1 >= rest) least = std::min(least, sum);
  }
  const std::size_t windows = executions / known;
  return static_cast<double>(windows) * whole + (rest == 0 ? 0 : std::max(0.0, least));
}

std::vector<Budget::Window> Budget::windows() const {
  std::vector<Window> out;
  double seconds = 0;
  double spent = 0;
  for (std::size_t held = 1; held <= recent_.size(); ++held) {  // of the window, up to the present execution
    const auto& execution = recent_[recent_.size() - held];
    seconds += execution.seconds;
    spent += execution.cost;
    out.push_back({epsilon_ * (seconds + shortest(window - held)), spent});
  }
  return out;
}

bool Budget::allows(double cost, double least, const Reservation& other) const {
  for (const auto& [allowance, spent] : windows()) {
    if (least > allowance) continue;
    const double held = other.cost <= allowance ? std::min(other.room, allowance) : 0;
    if (spent + held + (cost <= allowance ? cost : least) > allowance) return false;
  }
  return true;
}

double Budget::room(double least) const {
  double room = std::numeric_limits<double>::infinity();
  for (const auto& [allowance, spent] : windows()) {
    if (least <= allowance) room = std::min(room, allowance - spent);
  }
  return room;
}

}  // namespace flor::core
