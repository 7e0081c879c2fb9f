#include "policy_simulation.h"

#include <algorithm>

namespace flor::core::testing {
namespace {

constexpr double rounding = 1e-9;

Checkpoints at_fixed_period(const Profile& profile, std::size_t first, std::size_t period) {
  Checkpoints out;
  for (std::size_t at = first; at < profile.size(); at += period) {
    out.push_back({at, profile[at].cost(), profile[at].cost()});
  }
  return out;
}

bool holds(const std::vector<Excess>& excesses) {
  return std::all_of(excesses.begin(), excesses.end(), [](const Excess& e) { return e.seconds <= rounding; });
}

}  // namespace

Profile constant(std::size_t steps, double seconds, double stall) {
  return Profile(steps, Step{seconds, stall});
}

Checkpoints under_policy(const Profile& profile, double epsilon) {
  const std::string kind = "train";
  Policy policy(epsilon);
  CostModel model;
  model.prior(profile.front().stall / static_cast<double>(profile.front().bytes));
  Checkpoints out;
  double taken_from_next = 0;
  for (std::size_t i = 0; i < profile.size(); ++i) {
    const Step& step = profile[i];
    const double begun = policy.computed();
    if (taken_from_next > 0) {  // the write of the checkpoint before ended within this execution
      const Step& before = profile[i - 1];
      const double paid = model.interference(before.bytes);
      model.wrote(before.interference * 1.5, 0, before.bytes);
      policy.pay(kind, policy.executions(), 0, model.interference(before.bytes) - paid);
    }
    const double seconds = step.seconds + taken_from_next;
    model.executed(seconds, taken_from_next > 0);
    taken_from_next = 0;
    policy.expect(kind, model.expected(step.bytes), model.least(step.bytes), model.c());
    const int64_t number = policy.executed(kind, seconds, begun);
    const Decision decision = policy.decide(kind, ResumeSource::own_kind);
    if (!decision.materialize) continue;
    policy.pay(kind, number, step.stall, model.interference(step.bytes));
    policy.checkpointed(kind);
    model.stalled(step.stall, step.bytes);
    if (step.interference == 0) model.wrote(0, 0, step.bytes);
    taken_from_next = step.interference;
    out.push_back({i, decision.M, step.cost()});
  }
  return out;
}

std::vector<Excess> window_excesses(const Profile& profile, const Checkpoints& taken, double epsilon) {
  std::vector<Excess> out;
  for (std::size_t from = 0; from + Budget::window <= profile.size(); ++from) {
    const std::size_t to = from + Budget::window;
    double seconds = 0;
    for (std::size_t i = from; i < to; ++i) seconds += profile[i].seconds;
    Excess excess;
    double paid = 0;
    bool exempt = false;
    auto in_window = std::lower_bound(taken.begin(), taken.end(), from,
                                      [](const Taken& t, std::size_t at) { return t.at < at; });
    for (; in_window != taken.end() && in_window->at < to; ++in_window) {
      paid += in_window->cost;
      exempt = exempt || in_window->cost > epsilon * seconds;
      excess.overrun = std::max(0.0, in_window->cost - in_window->expected);
    }
    if (!exempt) excess.seconds = std::max(0.0, paid - epsilon * seconds);
    out.push_back(excess);
  }
  return out;
}

std::vector<Excess> run_excesses(const Profile& profile, const Checkpoints& taken, double epsilon) {
  std::vector<Excess> out;
  double seconds = 0;
  double paid = 0;
  std::size_t next = 0;
  for (const auto& checkpoint : taken) {
    for (; next <= checkpoint.at; ++next) seconds += profile[next].seconds;
    paid += checkpoint.cost;
    out.push_back(
        {std::max(0.0, paid - epsilon * seconds), std::max(0.0, checkpoint.cost - checkpoint.expected)});
  }
  return out;
}

double gain(const Profile& profile, const Checkpoints& taken) {
  double seconds = 0;
  for (const auto& checkpoint : taken) seconds += profile[checkpoint.at].seconds;
  return seconds;
}

Best best_fixed(const Profile& profile, double epsilon, bool windows) {
  double seconds = 0;
  for (const auto& step : profile) seconds += step.seconds;
  Best best;
  for (std::size_t period = 1; period <= profile.size(); ++period) {
    for (std::size_t first = 0; first < period; ++first) {
      const Checkpoints taken = at_fixed_period(profile, first, period);
      const double gained = gain(profile, taken);
      if (gained <= best.gain && taken.size() <= best.count) continue;
      double paid = 0;
      for (const auto& checkpoint : taken) paid += checkpoint.cost;
      if (paid > epsilon * seconds + rounding) continue;
      if (windows && !holds(window_excesses(profile, taken, epsilon))) continue;
      best.gain = std::max(best.gain, gained);
      best.count = std::max(best.count, taken.size());
    }
  }
  return best;
}

double Noise::next() {
  state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
  return static_cast<double>(state_ >> 11) / 9007199254740992.0;
}

}  // namespace flor::core::testing
