#include "core/checkpoint/buffers.h"

#include <algorithm>
#include <cstring>

#include "core/base/digest.h"
#include "core/base/nontemporal_copy.h"
#include "core/base/parallel.h"

namespace flor::core {

// Bytes. From this size on, copies around the caches. A smaller copy stays in the cache for the hash.
constexpr std::size_t worth_streaming = std::size_t{1} << 20;

Buffer Buffer::of_bytes(std::string name, std::string dtype, std::vector<int64_t> shape, const void* bytes,
                        std::size_t size) {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.dtype = std::move(dtype);
  buffer.shape = std::move(shape);
  buffer.bytes = size;
  const auto* begin = static_cast<const unsigned char*>(bytes);
  buffer.owned.assign(begin, begin + size);
  return buffer;
}

void Buffer::copy_to(void* destination) const {
  if (copy) {
    copy(destination);
  } else if (bytes > 0) {
    const void* from = data != nullptr ? data : owned.data();
    if (bytes < worth_streaming) {
      std::memcpy(destination, from, bytes);
    } else {
      nontemporal_copy(destination, from, bytes);
    }
  }
}

int64_t elements(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

std::size_t dtype_size(const std::string& dtype) {
  if (dtype == "F64" || dtype == "I64" || dtype == "U64") return 8;
  if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
  if (dtype == "F16" || dtype == "BF16" || dtype == "I16" || dtype == "U16") return 2;
  if (dtype == "U8" || dtype == "I8" || dtype == "BOOL") return 1;
  return 0;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (int64_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

std::string state_lines(std::vector<DigestLine> lines) {
  std::sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::string text;
  for (const auto& line : lines) {
    if (line.name.rfind(generator_prefix, 0) == 0 || line.name.rfind(volatile_prefix, 0) == 0) continue;
    text += line.name + ' ' + line.dtype + ' ' + shape_text(line.shape) + ' ' + line.digest + '\n';
  }
  return text;
}

std::string digest_of(const Buffer& buffer) {
  if (!buffer.copy) return digest_of(buffer.host(), buffer.bytes);
  std::vector<unsigned char> staging(buffer.bytes);
  buffer.copy(staging.data());
  return digest_of(staging.data(), staging.size());
}

std::vector<Buffer> live_buffers(State& state, Frontend& frontend) {
  auto buffers = state.save();
  for (const auto& [name, bytes] : frontend.generators()) {
    buffers.push_back(Buffer::of_bytes(generator_prefix + name, "U8", {static_cast<int64_t>(bytes.size())},
                                       bytes.data(), bytes.size()));
  }
  return buffers;
}

std::string state_digest(const std::vector<Buffer>& buffers) {
  std::vector<DigestLine> lines(buffers.size());
  in_parallel(buffers.size(), [&](std::size_t i) {
    lines[i] = {buffers[i].name, buffers[i].dtype, buffers[i].shape, digest_of(buffers[i])};
  });
  return digest_of(state_lines(std::move(lines)));
}

}  // namespace flor::core
