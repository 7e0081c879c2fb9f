#include "core/checkpoint/safetensors.h"

namespace flor::core {
namespace {

constexpr std::size_t length_bytes = 8;

}  // namespace

Json safetensors_entry(const std::string& dtype, const std::vector<int64_t>& shape, std::uint64_t begin,
                       std::uint64_t end) {
  return {{"dtype", dtype}, {"shape", shape}, {"data_offsets", {begin, end}}};
}

std::string safetensors_head(const std::string& json, std::size_t alignment) {
  const std::size_t data = (length_bytes + json.size() + alignment - 1) / alignment * alignment;
  const std::size_t size = data - length_bytes;
  std::string out;
  out.reserve(data);
  for (std::size_t i = 0; i < length_bytes; ++i) out += static_cast<char>(size >> (8 * i));
  out += json;
  out.resize(data, ' ');
  return out;
}

}  // namespace flor::core
