#include "frontend.h"

#include <cstring>

#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/session/runtime.h"
#include "logging/observe.h"

namespace rules {
namespace {

namespace core = flor::core;

uint64_t generator_state = 42;

// splitmix64: the whole state is one number.
uint64_t draw() {
  uint64_t z = (generator_state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

// RULES_CPU stands for what a process cannot change, RULES_THREADS for what it can, RULES_PRESET for what
// must be set before it starts.
class TestFrontend : public core::Frontend {
 public:
  using Map = std::map<std::string, std::string>;

  Map generators() override {
    return {{"cpu", std::string(reinterpret_cast<const char*>(&generator_state), sizeof generator_state)}};
  }
  void set_generators(const Map& states) override {
    auto found = states.find("cpu");
    if (found != states.end()) std::memcpy(&generator_state, found->second.data(), sizeof generator_state);
  }
  Map environment() override { return {{"threads", threads_}, {"cpu", variable("RULES_CPU", "scalar")}}; }
  Map preset() override { return {{"CUBLAS_WORKSPACE_CONFIG", variable("CUBLAS_WORKSPACE_CONFIG", "none")}}; }
  void apply(const Map& environment) override { threads_ = environment.at("threads"); }
  void synchronize() override {}

 private:
  static std::string variable(const char* name, const char* otherwise) {
    return core::environment_variable(name).value_or(otherwise);
  }
  std::string threads_ = variable("RULES_THREADS", "1");
};

core::Runtime& runtime() {
  static auto* instance = new core::Runtime(std::make_unique<TestFrontend>());
  return *instance;
}

// A vector has no version counter: its content serves as one.
core::ChangeHint hint_of(const core::Buffer& buffer) {
  static const auto anchor = std::make_shared<int>(0);
  const std::string digest = core::digest_of(buffer.data, buffer.bytes);
  return {{reinterpret_cast<std::uint64_t>(buffer.data), buffer.bytes, 0, 0},
          std::stoull(digest.substr(0, 16), nullptr, 16),
          anchor};
}

// The memory of a variable, and how a checkpoint names its type.
struct Memory {
  const char* dtype;
  void* data;
  std::size_t bytes;
  bool sized;  // a vector or a text: its length is part of the value
};

Memory memory_of(const Ref& ref) {
  if (ref.real != nullptr) return {"F64", ref.real, sizeof(double), false};
  if (ref.integer != nullptr) return {"I64", ref.integer, sizeof(int64_t), false};
  if (ref.small != nullptr) return {"I32", ref.small, sizeof(int), false};
  if (ref.truth != nullptr) return {"BOOL", ref.truth, sizeof(bool), false};
  if (ref.text != nullptr) return {"U8", ref.text->data(), ref.text->size(), true};
  return {"F64", ref.reals->data(), 8 * ref.reals->size(), true};
}

class RefState : public core::State {
 public:
  explicit RefState(Refs refs) : refs_(std::move(refs)) {}

  std::vector<core::Buffer> save() override {
    std::vector<core::Buffer> out;
    for (std::size_t i = 0; i < refs_.size(); ++i) {
      const Memory memory = memory_of(refs_[i]);
      const std::string name = std::to_string(i) + ".value";
      std::vector<int64_t> shape;
      if (memory.sized)
        shape.push_back(static_cast<int64_t>(memory.bytes / (refs_[i].reals != nullptr ? 8 : 1)));
      if (refs_[i].reals == nullptr) {
        out.push_back(core::Buffer::of_bytes(name, memory.dtype, shape, memory.data, memory.bytes));
        continue;
      }
      core::Buffer buffer;
      buffer.name = name;
      buffer.dtype = memory.dtype;
      buffer.shape = shape;
      buffer.bytes = memory.bytes;
      buffer.data = memory.data;
      buffer.hint = hint_of(buffer);
      out.push_back(std::move(buffer));
    }
    return out;
  }

  std::optional<std::string> misfit(const core::LoadedTensors& tensors) override {
    if (tensors.size() != refs_.size()) return "it holds another number of objects";
    for (std::size_t i = 0; i < refs_.size(); ++i) {
      auto found = tensors.find(std::to_string(i) + ".value");
      if (found == tensors.end()) return "object " + std::to_string(i) + " is not in it";
      const Memory memory = memory_of(refs_[i]);
      const bool fits =
          found->second.dtype == memory.dtype && found->second.shape.size() == (memory.sized ? 1U : 0U);
      if (!fits) return "object " + std::to_string(i) + " is of another kind";
    }
    return std::nullopt;
  }

  std::optional<std::string> restore(const core::LoadedTensors& tensors) override {
    if (auto why = misfit(tensors)) return why;
    for (std::size_t i = 0; i < refs_.size(); ++i) {
      const auto& tensor = tensors.at(std::to_string(i) + ".value");
      if (refs_[i].reals != nullptr) refs_[i].reals->resize(tensor.bytes / 8);
      if (refs_[i].text != nullptr) refs_[i].text->resize(tensor.bytes);
      if (tensor.bytes > 0) std::memcpy(memory_of(refs_[i]).data, tensor.data, tensor.bytes);
    }
    return std::nullopt;
  }

 private:
  Refs refs_;
};

}  // namespace

double uniform() {
  return static_cast<double>(draw() >> 11U) / 9007199254740992.0;
}

Loop::Loop(const std::string& name, bool range, int64_t begin, int64_t end)
    : range_(range), begin_(begin), end_(end), value_(begin) {
  runtime().enter_loop({name, range, begin, end});
}

Loop::~Loop() {
  const bool unwound = std::uncaught_exceptions() > exceptions_;
  runtime().leave_loop(exhausted_ ? core::LoopEnd::exhausted
                       : unwound  ? core::LoopEnd::unwound
                                  : core::LoopEnd::early);
}

bool Loop::next() {
  const int64_t here = started_ ? value_ + 1 : begin_;
  started_ = true;
  const bool over = here >= end_;
  const auto wanted = runtime().next(over ? std::nullopt : std::optional(here));
  // A container is walked through to where the library wants to go on, however far it reaches.
  exhausted_ = !wanted || (!range_ && std::max(here, *wanted) >= end_);
  if (exhausted_) return false;
  value_ = range_ ? *wanted : std::max(here, *wanted);
  runtime().begin(value_);
  return true;
}

struct SkipBlock::Impl {
  Impl(std::string name, Refs objects) : name(std::move(name)), state(std::move(objects)) {}

  std::string name;
  RefState state;
  bool entered = false;
};

SkipBlock::SkipBlock(const std::string& name, Refs objects) {
  if (runtime().active()) impl_ = std::make_unique<Impl>(name, std::move(objects));
}

bool SkipBlock::step_into() {
  if (!impl_ || impl_->entered) return true;
  impl_->entered = true;
  return runtime().enter_block(impl_->name, &impl_->state);
}

SkipBlock::~SkipBlock() {
  if (impl_ && impl_->entered) runtime().leave_block(std::uncaught_exceptions() > exceptions_);
}

struct Guard::Impl {
  explicit Impl(Refs objects) : state(std::move(objects)) {}

  RefState state;
};

Guard::Guard(Refs objects) {
  if (!runtime().active()) return;
  impl_ = std::make_unique<Impl>(std::move(objects));
  runtime().enter_guard(impl_->state);
}

Guard::~Guard() {
  if (impl_) runtime().leave_guard(impl_->state);
}

void log(const std::string& name, double value, bool is_volatile) {
  runtime().log({name, core::number_text(value), is_volatile});
}
void log_integer(const std::string& name, int64_t value) {
  runtime().log({name, std::to_string(value)});
}
void log_text(const std::string& name, const std::string& value) {
  runtime().log({name, core::json_text(value)});
}

void log_truth(const std::string& name, bool value) {
  runtime().log({name, value ? "true" : "false"});
}

namespace {

void observe(const std::string& name, const std::vector<double>& values, flor::logging::Observation what) {
  const auto place = runtime().row_destination();
  if (!place) return;
  core::Buffer live;
  live.dtype = "F64";
  live.shape = {1, static_cast<int64_t>(values.size())};
  live.bytes = 8 * values.size();
  live.data = values.data();
  runtime().log({name, "", false,
                 flor::logging::observe(flor::logging::process_background(), live, what,
                                        {place->files, name, place->stem}, [] { runtime().value_came(); })});
}

}  // namespace

void log_histogram(const std::string& name, const std::vector<double>& values) {
  observe(name, values, {flor::logging::Observation::Kind::summary, 8});
}
void log_whole(const std::string& name, const std::vector<double>& values) {
  observe(name, values, {flor::logging::Observation::Kind::whole, 0});
}
void log_image(const std::string& name, const std::vector<double>& values) {
  observe(name, values, {flor::logging::Observation::Kind::image, 0});
}

std::string argument(const std::string& name, const std::string& otherwise) {
  return runtime().argument(name, otherwise);
}

bool recording() {
  return runtime().recording();
}
bool replaying() {
  return runtime().replaying();
}

}  // namespace rules
