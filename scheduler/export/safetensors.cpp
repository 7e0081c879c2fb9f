#include "export/safetensors.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/checkpoint/safetensors.h"
#include "core/files/durable.h"

namespace flor::exporting {

using core::Json;

SafetensorsLayout safetensors_layout(const core::LoadedTensors& tensors, const Metadata& metadata) {
  SafetensorsLayout out;
  for (const auto& [name, tensor] : tensors) out.order.push_back(name);
  std::stable_sort(out.order.begin(), out.order.end(), [&](const std::string& a, const std::string& b) {
    return core::dtype_size(tensors.at(a).dtype) > core::dtype_size(tensors.at(b).dtype);
  });
  Json json = {{"__metadata__", metadata}};
  std::size_t offset = 0;
  for (const auto& name : out.order) {
    const core::LoadedTensor& tensor = tensors.at(name);
    const std::size_t begin = offset;
    offset += tensor.bytes;
    json[name] = core::safetensors_entry(tensor.dtype, tensor.shape, begin, offset);
  }
  out.header = core::safetensors_head(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  return out;
}

void write_safetensors(const std::filesystem::path& path, const core::LoadedTensors& tensors,
                       const Metadata& metadata) {
  const SafetensorsLayout layout = safetensors_layout(tensors, metadata);
  core::DurableFile file(path);
  file.write(layout.header.data(), layout.header.size());
  for (const auto& name : layout.order) file.write(tensors.at(name).data, tensors.at(name).bytes);
  file.commit();
}

}  // namespace flor::exporting
