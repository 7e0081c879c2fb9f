// The C interface on top of the runtime.
#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>

#include "c/calls.h"
#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/base/messages.h"
#include "core/config/arguments.h"
#include "core/materialize/memory_watch.h"
#include "core/session/runtime.h"
#include "flor/c.h"

namespace {

namespace core = flor::core;

// Never destroyed, see Runtime.
std::atomic<core::Runtime*> the_runtime{nullptr};

// Runtime lets no exception out. What can still throw here is a copy of a text, where there is no memory.
template <class Result, class Call>
Result with_runtime(Result fallback, Call call) noexcept {
  core::Runtime* runtime = the_runtime;
  if (runtime == nullptr) return fallback;
  try {
    return call(*runtime);
  } catch (const std::exception&) {
    return fallback;
  }
}

template <class Call>
void with_runtime(Call call) noexcept {
  with_runtime(true, [&](core::Runtime& runtime) {
    call(runtime);
    return true;
  });
}

}  // namespace

struct flor_state {
  explicit flor_state(const flor_state_calls& calls) : state(calls) {}

  flor::c::CallingState state;
};

int32_t flor_c_version(void) {
  return FLOR_C_VERSION;
}

void flor_start(const flor_frontend* frontend) {
  static std::once_flag once;
  try {
    std::call_once(once, [&] {
      the_runtime = new core::Runtime(std::make_unique<flor::c::CallingFrontend>(*frontend));
    });
  } catch (const std::exception&) {
    // Without a runtime, all calls do what they do outside Flor.
  }
}

void flor_detach(void) {
  flor::c::CallingFrontend::detach();
}

void flor_finish(int32_t exit_code) {
  with_runtime([&](core::Runtime& runtime) { runtime.finish(exit_code); });
}

int32_t flor_recording(void) {
  return with_runtime(0, [](core::Runtime& runtime) { return runtime.recording() ? 1 : 0; });
}

int32_t flor_replaying(void) {
  return with_runtime(0, [](core::Runtime& runtime) { return runtime.replaying() ? 1 : 0; });
}

int32_t flor_active(void) {
  return with_runtime(0, [](core::Runtime& runtime) { return runtime.active() ? 1 : 0; });
}

void flor_enter_loop(const char* name, int32_t over, int64_t begin, int64_t end) {
  with_runtime([&](core::Runtime& runtime) {
    runtime.enter_loop({name, over == FLOR_RANGE, begin, end, over == FLOR_ONE_PASS});
  });
}

int32_t flor_next(int32_t has_natural, int64_t natural, int64_t* value) {
  std::optional<int64_t> next;
  if (has_natural != 0) next = natural;
  next = with_runtime(next, [&](core::Runtime& runtime) { return runtime.next(next); });
  if (next) *value = *next;
  return next ? 1 : 0;
}

void flor_begin(int64_t value) {
  with_runtime([&](core::Runtime& runtime) { runtime.begin(value); });
}

void flor_leave_loop(int32_t how) {
  const auto end = how == FLOR_EXHAUSTED ? core::LoopEnd::exhausted
                   : how == FLOR_UNWOUND ? core::LoopEnd::unwound
                                         : core::LoopEnd::early;
  with_runtime([&](core::Runtime& runtime) { runtime.leave_loop(end); });
}

flor_state* flor_new_state(const flor_state_calls* calls) {
  return new (std::nothrow) flor_state(*calls);
}

void flor_free_state(flor_state* state) {
  delete state;
}

int32_t flor_enter_block(const char* name, flor_state* state) {
  return with_runtime(1, [&](core::Runtime& runtime) {
    return runtime.enter_block(name, state == nullptr ? nullptr : &state->state) ? 1 : 0;
  });
}

void flor_leave_block(int32_t unwound) {
  with_runtime([&](core::Runtime& runtime) { runtime.leave_block(unwound != 0); });
}

void flor_enter_guard(flor_state* state) {
  if (state != nullptr) with_runtime([&](core::Runtime& runtime) { runtime.enter_guard(state->state); });
}

void flor_leave_guard(flor_state* state) {
  if (state != nullptr) with_runtime([&](core::Runtime& runtime) { runtime.leave_guard(state->state); });
}

void flor_note_unheld(const char* block, const char* path, int32_t matters) {
  with_runtime([&](core::Runtime& runtime) { runtime.note_unheld(block, path, matters != 0); });
}

void flor_note_group(void) {
  with_runtime([](core::Runtime& runtime) { runtime.note_group(); });
}

void flor_spent(double seconds) {
  with_runtime([&](core::Runtime& runtime) { runtime.spent(seconds); });
}

void flor_reject(const char* why) {
  with_runtime([&](core::Runtime& runtime) { runtime.reject(why); });
}

void flor_cannot_go_on(const char* why) {
  with_runtime([&](core::Runtime& runtime) { runtime.cannot_go_on(why); });
}

void flor_log(const char* name, const char* json, int32_t how) {
  with_runtime([&](core::Runtime& runtime) {
    core::Row row{name, json, (how & FLOR_VOLATILE) != 0};
    row.is_quiet = (how & FLOR_QUIET) != 0;
    runtime.log(row);
  });
}

void flor_number_text(double value, char* text) {
  try {
    const std::string out = core::number_text(value);
    std::memcpy(text, out.c_str(), out.size() + 1);
  } catch (const std::exception&) {
    std::memcpy(text, "null", 5);
  }
}

const char* flor_argument(const char* name, const char* fallback) {
  thread_local std::string text;
  return with_runtime(fallback, [&](core::Runtime& runtime) {
    text = runtime.argument(name, fallback);
    return text.c_str();
  });
}

void flor_use_argument(const char* name, const char* value) {
  with_runtime([&](core::Runtime& runtime) { runtime.use_argument(name, value); });
}

uint64_t flor_room(void) {
  try {
    return core::room_for_copy(core::CopyFrom::host, core::MemoryWatch::here().available());
  } catch (const std::exception&) {
    return 0;
  }
}

void flor_digest(const void* data, uint64_t bytes, char* digest) {
  try {
    const std::string out = core::digest_of(data, bytes);
    std::memcpy(digest, out.c_str(), out.size() + 1);
  } catch (const std::exception&) {
    *digest = '\0';
  }
}

void flor_warn(const char* text) {
  try {
    core::warn_once(text);
  } catch (const std::exception&) {
  }
}
