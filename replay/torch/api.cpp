// The public API on top of the runtime.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/messages.h"
#include "core/base/parse_number.h"
#include "flor/flor.h"
#include "torch/archives.h"
#include "torch/frontend.h"

namespace flor {
namespace detail {

core::Runtime& runtime() {
  static auto* instance = new core::Runtime(make_frontend());  // never destroyed, see Runtime
  return *instance;
}

// --- loops ---

namespace {

// Of this thread: a program may loop in several.
thread_local std::vector<const LoopRun*> running_loops;
thread_local LoopRun* beginning_loop = nullptr;
thread_local int64_t loops_so_far = 0;

}  // namespace

LoopRun::LoopRun(const std::string& name, bool range, int64_t begin, int64_t end)
    : range_(range),
      begin_(begin),
      end_(end),
      value_(begin),
      id_(loops_so_far++),
      exceptions_(std::uncaught_exceptions()) {
  running_loops.push_back(this);
  runtime().enter_loop({name, range, begin, end});
}

LoopRun::~LoopRun() {
  running_loops.erase(std::remove(running_loops.begin(), running_loops.end(), this), running_loops.end());
  const bool unwound = std::uncaught_exceptions() > exceptions_;
  runtime().leave_loop(exhausted_ ? core::LoopEnd::exhausted
                       : unwound  ? core::LoopEnd::unwound
                                  : core::LoopEnd::early);
}

std::optional<int64_t> LoopRun::next(bool at_end) {
  std::optional<int64_t> natural = started_ ? value_ + 1 : begin_;
  if (at_end || (range_ && *natural >= end_)) natural.reset();
  started_ = true;
  return runtime().next(natural);
}

LoopRun* LoopRun::beginning() {
  return beginning_loop;
}

int64_t LoopRun::ended_in(int64_t id) {
  for (const LoopRun* run : running_loops) {
    if (run->id_ == id) return run->begun_ ? run->value_ + 1 : run->begins_at_;
  }
  return -1;
}

LoopRun::Beginning::Beginning(LoopRun& run) : outer_(std::exchange(beginning_loop, &run)) {}

LoopRun::Beginning::~Beginning() {
  beginning_loop = outer_;
}

void LoopRun::begin(int64_t value) {
  begun_ = true;
  value_ = value;
  runtime().begin(value);
}

// --- arguments ---

std::string argument(const std::string& name, const std::string& fallback) {
  return runtime().argument(name, fallback);
}

std::string argument_text(double value) {
  return core::number_text(value);
}

namespace {

template <class T>
T parsed(bool fine, const std::string& name, const std::string& text, T value, T fallback,
         const std::string& fallback_text) {
  if (fine) return value;
  runtime().use_argument(name, fallback_text);
  core::warn("argument " + name + "=" + text +
             " is not of the type that the program asks for; its default is used");
  return fallback;
}

}  // namespace

int64_t parse_integer(const std::string& name, const std::string& text, int64_t fallback, int64_t least,
                      int64_t most) {
  const auto value = core::parse_number<int64_t>(text);
  return parsed(value && *value >= least && *value <= most, name, text, value.value_or(0), fallback,
                std::to_string(fallback));
}

double parse_real(const std::string& name, const std::string& text, double fallback) {
  const auto value = core::parse_number<double>(text);
  return parsed(value.has_value(), name, text, value.value_or(0), fallback, argument_text(fallback));
}

bool parse_truth(const std::string& name, const std::string& text, bool fallback) {
  const bool yes = text == "true" || text == "1";
  return parsed(yes || text == "false" || text == "0", name, text, yes, fallback,
                fallback ? "true" : "false");
}

}  // namespace detail

bool recording() {
  return detail::runtime().recording();
}
bool replaying() {
  return detail::runtime().replaying();
}

// --- blocks and guards ---

struct SkipBlock::Impl {
  Impl(std::string name, std::unique_ptr<Objects> objects)
      : name(std::move(name)), state(std::move(objects)) {}

  std::string name;
  detail::TorchState state;
  bool entered = false;
};

SkipBlock::SkipBlock(const std::string& name, std::unique_ptr<Objects> objects) {
  if (detail::runtime().active()) impl_ = std::make_unique<Impl>(name, std::move(objects));
}

bool SkipBlock::step_into() {
  if (!impl_ || impl_->entered) return true;
  impl_->entered = true;
  return detail::runtime().enter_block(impl_->name, &impl_->state);
}

SkipBlock::~SkipBlock() {
  if (!impl_ || !impl_->entered) return;
  detail::runtime().leave_block(std::uncaught_exceptions() > exceptions_);
}

struct Checkpointing::Impl {
  explicit Impl(std::unique_ptr<Objects> objects) : state(std::move(objects)) {}

  detail::TorchState state;
};

Checkpointing::Checkpointing(std::unique_ptr<Objects> objects) {
  if (!detail::runtime().active()) return;
  impl_ = std::make_unique<Impl>(std::move(objects));
  detail::runtime().enter_guard(impl_->state);
}

Checkpointing::~Checkpointing() {
  if (impl_) detail::runtime().leave_guard(impl_->state);
}

}  // namespace flor
