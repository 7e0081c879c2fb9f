#include "core/policy/policy.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace flor::core {

double allowance(double c, double epsilon) {
  return std::min(1.0 / (1.0 + c), epsilon);
}

bool equation_4(double M, double C, int64_t n, int64_t k, double c, double epsilon) {
  return M / C < static_cast<double>(n) / static_cast<double>(k + 1) * allowance(c, epsilon);
}

double recovery_interval(double M, double mtbf) {
  if (M >= 2 * mtbf) return mtbf;
  const double ratio = M / (2 * mtbf);
  return std::sqrt(2 * M * mtbf) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - M;
}

double Account::earn(double income, double expected_cost) {
  const double most = std::max(credit_, std::max(income, max_saved_checkpoints * expected_cost));
  const double taken = std::min(income, most - credit_);
  credit_ += taken;
  return income - taken;
}

void Policy::expect(const std::string& kind, double M, double least, double c) {
  Kind& known = kinds_[kind];
  known.M = M;
  known.least = least;
  known.c = c;
  known.g = allowance(c, epsilon_);
}

int64_t Policy::executed(const std::string& kind, double seconds, double begun) {
  const double own = std::max(0.0, seconds - (computed_ - begun));
  computed_ += own;
  divide(own);
  const int64_t number = budget_.executed(own);
  Kind& known = kinds_[kind];
  known.seconds = seconds;
  known.gap = number - known.number;
  known.number = number;
  return number;
}

void Policy::divide(double seconds) {
  std::vector<Kind*> open;
  for (auto& [name, kind] : kinds_) open.push_back(&kind);
  while (!open.empty() && seconds > 0) {
    const double part = seconds / static_cast<double>(open.size());
    seconds = 0;
    std::vector<Kind*> with_room;
    for (Kind* kind : open) {
      const double rest = kind->g > 0 ? kind->account.earn(part * kind->g, kind->M) / kind->g : part;
      seconds += rest;
      if (!(rest > 0)) with_room.push_back(kind);
    }
    if (with_room.size() == open.size()) break;
    open = std::move(with_room);
  }
}

std::optional<double> Policy::interval(const std::string& kind) const {
  const auto known = kinds_.find(kind);
  if (!mtbf_ || known == kinds_.end() || known->second.M <= 0) return std::nullopt;
  return recovery_interval(known->second.M, *mtbf_);
}

Decision Policy::decide(const std::string& kind, ResumeSource source) {
  Kind& known = kinds_[kind];
  known.source = source;
  Decision decision;
  decision.M = known.M;
  decision.c = known.c;
  decision.g = known.g;
  decision.credit = known.account.credit();
  decision.run = budget_.credit();
  decision.window = budget_.room(known.least);
  decision.since = source == ResumeSource::newest ? since_newest() : computed_ - known.last;
  if (source != ResumeSource::none) decision.interval = interval(kind);
  const bool replay = known.account.affords(known.M);
  // At this end if it is nearer to W than the next end.
  const bool failures = decision.interval && decision.since + known.seconds / 2 >= *decision.interval;
  decision.why =
      replay || failures ? refusal(known) : "it would cost more than the time computed so far allows";
  if (decision.run < 0) decision.why = "earlier checkpoints are not yet paid back";
  decision.materialize = decision.why.empty();
  if (decision.materialize) {
    decision.why =
        replay ? "its cost fits into what the time computed allows" : "recovery from a failure wants one";
  }
  return decision;
}

Budget::Reservation Policy::reserved_by_others(const Kind& kind) const {
  constexpr auto window = static_cast<int64_t>(Budget::window);
  const int64_t now = budget_.executions();
  Budget::Reservation reserved;
  for (const auto& [name, other] : kinds_) {
    const int64_t next = other.number + other.gap;
    const bool due = next <= now + window && next >= other.taken + window;
    const bool over = now > next + window;
    if (other.waited == 0 || !due || over || &other == &kind) continue;
    reserved.cost += other.M;
    // Times vary: what is just enough now may not be enough when it ends.
    reserved.room += other.M * (1 + 0.25 * other.waited);
  }
  return reserved;
}

std::string Policy::refusal(Kind& kind) const {
  if (kind.M > budget_.credit()) return "it would take the whole run above epsilon";
  if (!budget_.allows(kind.M, kind.least)) {
    kind.waited += 1;
    return "it would take 20 executions above epsilon";
  }
  const Budget::Reservation reserved = reserved_by_others(kind);
  if (reserved.cost > 0 && !budget_.allows(kind.M, kind.least, reserved)) {
    return "what 20 executions have left is kept for a checkpoint of another kind";
  }
  return "";
}

void Policy::pay(const std::string& kind, int64_t execution, double stall, double interference) {
  kinds_[kind].account.pay(stall + interference);
  budget_.pay(execution, stall, interference);
}

void Policy::checkpointed(const std::string& kind) {
  Kind& known = kinds_[kind];
  known.last = computed_;
  if (known.source == ResumeSource::newest) last_newest_ = computed_;
  known.taken = known.number;
  known.waited = 0;
}

}  // namespace flor::core
