#include "c/calls.h"

#include <utility>

#include "c/answer.h"
#include "core/base/error.h"
#include "core/config/preset.h"
#include "core/config/settings.h"

namespace flor::c {
namespace {

// Calls once more where the callback was interrupted: what interrupted it comes once.
template <class Call>
flor_answer finished(Call call) {
  for (int tries = 0; tries < 3; ++tries) {
    flor_answer answer;
    call(&answer);
    if (answer.failure || answer.is_done) return answer;
  }
  throw core::LocalError("a callback of the front end was interrupted three times");
}

template <class Call>
flor_answer answered(Call call) {
  flor_answer answer = finished(call);
  if (answer.lacks_memory) throw core::NoRoom(*answer.failure);
  if (answer.failure) throw core::LocalError(*answer.failure);
  return answer;
}

flor_texts texts_of(const std::map<std::string, std::string>& texts) {
  return {{texts.begin(), texts.end()}};
}

void require_attached() {
  if (CallingFrontend::is_detached()) throw core::Error("the program's objects are gone: it is at its end");
}

}  // namespace

std::atomic<bool> CallingFrontend::detached{false};

CallingFrontend::Map CallingFrontend::generators() {
  if (is_detached()) return {};
  return answered([&](flor_answer* answer) { calls_.generators(calls_.context, answer); }).texts;
}

void CallingFrontend::set_generators(const Map& states) {
  if (is_detached()) return;
  const flor_texts texts = texts_of(states);
  answered([&](flor_answer* answer) { calls_.set_generators(calls_.context, &texts, answer); });
}

CallingFrontend::Map CallingFrontend::environment() {
  if (is_detached()) return {};
  return answered([&](flor_answer* answer) { calls_.environment(calls_.context, answer); }).texts;
}

// The variables that the program was started with. What it found out by itself, environment() says.
CallingFrontend::Map CallingFrontend::preset() {
  Map out;
  for (const auto& name : core::preset_names()) {
    if (auto value = core::environment_variable(name.c_str())) out[name] = *value;
  }
  return core::known_preset(out);
}

void CallingFrontend::apply(const Map& environment) {
  if (is_detached()) return;
  const flor_texts texts = texts_of(environment);
  answered([&](flor_answer* answer) { calls_.apply(calls_.context, &texts, answer); });
}

void CallingFrontend::synchronize() {
  if (!is_detached()) answered([&](flor_answer* answer) { calls_.synchronize(calls_.context, answer); });
}

std::vector<std::string> CallingFrontend::sources() {
  if (is_detached()) return {};
  std::vector<std::string> out;
  for (auto& [path, none] :
       answered([&](flor_answer* answer) { calls_.sources(calls_.context, answer); }).texts)
    out.push_back(path);
  return out;
}

std::vector<core::Buffer> CallingState::save() {
  require_attached();
  return std::move(answered([&](flor_answer* answer) { calls_.save(calls_.context, answer); }).buffers);
}

void CallingState::expect(const std::vector<std::string>& names) {
  require_attached();
  flor_texts texts;
  for (const auto& name : names) texts.entries.emplace_back(name, "");
  answered([&](flor_answer* answer) { calls_.expect(calls_.context, &texts, answer); });
}

bool CallingState::ready(bool is_last) {
  if (calls_.ready == nullptr) return true;
  require_attached();
  return !finished([&](flor_answer* answer) {
            calls_.ready(calls_.context, is_last ? 1 : 0, answer);
          }).failure;
}

std::optional<std::string> CallingState::misfit(const core::LoadedTensors& tensors) {
  require_attached();
  const flor_tensors loaded(tensors);
  return finished([&](flor_answer* answer) { calls_.check(calls_.context, &loaded, answer); }).failure;
}

std::optional<std::string> CallingState::restore(const core::LoadedTensors& tensors) {
  if (auto why = misfit(tensors)) return why;
  const flor_tensors loaded(tensors);
  answered([&](flor_answer* answer) { calls_.restore(calls_.context, &loaded, answer); });
  return std::nullopt;
}

}  // namespace flor::c
