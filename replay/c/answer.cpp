#include "c/answer.h"

#include <cstring>
#include <exception>

namespace {

// No exception may cross the C interface. The answer carries what happened.
template <class Call>
void kept_in(flor_answer* answer, Call call) noexcept {
  try {
    call();
  } catch (const std::exception& problem) {
    try {
      answer->failure = problem.what();
    } catch (const std::exception&) {
      answer->failure.emplace();
    }
  }
}

}  // namespace

void flor_put_buffer(flor_answer* answer, const flor_buffer* buffer) {
  kept_in(answer, [&] {
    flor::core::Buffer out;
    out.name = buffer->name;
    out.dtype = buffer->dtype;
    out.shape.assign(buffer->shape, buffer->shape + buffer->dims);
    out.bytes = buffer->bytes;
    if (buffer->is_own != 0) {
      out.data = buffer->data;
      out.is_left_alone = buffer->is_own == 2;
    } else {
      // Not as data: what a restore writes there would be lost.
      out.copy = [data = buffer->data, bytes = buffer->bytes](void* to) {
        if (bytes > 0) std::memcpy(to, data, bytes);
      };
    }
    if (buffer->memory != 0 && buffer->is_own != 0) {
      out.hint = flor::core::ChangeHint{{buffer->memory}, buffer->version, nullptr};
    }
    answer->buffers.push_back(std::move(out));
  });
}

void flor_put_text(flor_answer* answer, const char* key, const void* text, uint64_t bytes) {
  kept_in(answer, [&] { answer->texts[key] = std::string(static_cast<const char*>(text), bytes); });
}

void flor_fail(flor_answer* answer, const char* reason) {
  kept_in(answer, [&] { answer->failure = reason; });
}

void flor_fail_for_memory(flor_answer* answer, const char* reason) {
  flor_fail(answer, reason);
  answer->lacks_memory = true;
}

void flor_done(flor_answer* answer) {
  answer->is_done = true;
}

uint64_t flor_tensors_count(const flor_tensors* tensors) {
  return tensors->entries.size();
}

void flor_tensors_at(const flor_tensors* tensors, uint64_t index, flor_buffer* buffer) {
  const auto& [name, tensor] = tensors->entries[index];
  *buffer = {};
  buffer->name = name.c_str();
  buffer->dtype = tensor.dtype.c_str();
  buffer->shape = tensor.shape.data();
  buffer->dims = static_cast<int32_t>(tensor.shape.size());
  buffer->data = tensor.data;
  buffer->bytes = tensor.bytes;
}

uint64_t flor_texts_count(const flor_texts* texts) {
  return texts->entries.size();
}

void flor_texts_at(const flor_texts* texts, uint64_t index, const char** key, const void** text,
                   uint64_t* bytes) {
  const auto& [name, value] = texts->entries[index];
  *key = name.c_str();
  *text = value.data();
  *bytes = value.size();
}
