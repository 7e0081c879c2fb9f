#include "logging/observe.h"

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/messages.h"
#include "core/checkpoint/safetensors.h"
#include "logging/image.h"
#include "logging/summary.h"

namespace flor::logging {
namespace {

using core::Json;

std::string_view view(const void* bytes, std::size_t size) {
  return {static_cast<const char*>(bytes), size};
}

// Returns a safetensors file of one tensor, without its bytes.
std::string head_of(const std::string& name, const core::Buffer& tensor) {
  Json json = Json::object();
  json[name] = core::safetensors_entry(tensor.dtype, tensor.shape, 0, tensor.bytes);
  return core::safetensors_head(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// Publishes the parts unless the file exists, and names it in the row.
core::LateValue kept(Json row, const RowDestination& destination, const std::string& folder,
                     const std::string& suffix, const std::string& what,
                     const std::function<void(core::LogFiles&, const std::string& name)>& publish) {
  if (!destination.files) return {core::json_text(row), {}};
  // Equal bytes of another shape are another file.
  const std::string digest = core::digest_of(what + ' ' + row.at("xxh3").get<std::string>());
  const std::string name =
      core::LogFiles::name_of(folder, destination.name, destination.stem, digest, suffix);
  std::string error;
  try {
    if (!destination.files->has(name)) publish(*destination.files, name);
  } catch (const std::exception& problem) {
    error = problem.what();
  }
  Json out = {{"file", error.empty() ? Json(name) : Json(nullptr)}};
  out.update(row);
  return {core::json_text(out), error};
}

core::LateValue whole_value(const core::Buffer& like, const void* bytes, const RowDestination& destination) {
  const Json row = {
      {"dtype", like.dtype}, {"shape", like.shape}, {"xxh3", core::digest_of(bytes, like.bytes)}};
  return kept(row, destination, "tensors", "safetensors", like.dtype + ' ' + core::shape_text(like.shape),
              [&](core::LogFiles& files, const std::string& name) {
                const std::string head = head_of(destination.name, like);
                files.publish(name, {head, view(bytes, like.bytes)});
              });
}

// The digest covers the pixels: the compressed bytes depend on the PNG library.
core::LateValue image_value(const core::Buffer& like, const void* bytes, const RowDestination& destination) {
  const Image image = image_of(bytes, like.dtype, like.shape);
  const Json row = {{"width", image.width},
                    {"height", image.height},
                    {"channels", image.channels},
                    {"xxh3", core::digest_of(image.pixels.data(), image.pixels.size())}};
  return kept(row, destination, "images", "png",
              core::shape_text({image.height, image.width, image.channels}),
              [&](core::LogFiles& files, const std::string& name) {
                const auto png = encode_png(image);
                files.publish(name, {view(png.data(), png.size())});
              });
}

core::LateValue value(const core::Buffer& like, const void* bytes, const Observation& what,
                      const RowDestination& destination) {
  switch (what.kind) {
    case Observation::Kind::whole:
      return whole_value(like, bytes, destination);
    case Observation::Kind::image:
      return image_value(like, bytes, destination);
    case Observation::Kind::summary:
      break;
  }
  const auto count = static_cast<std::size_t>(core::elements(like.shape));
  return {core::json_text(to_json(summarise(bytes, count, like.dtype, what.buckets), like.dtype, like.shape)),
          {}};
}

}  // namespace

core::Later observe(Background& background, const core::Buffer& live, const Observation& what,
                    const RowDestination& destination, Background::After after) {
  core::Buffer like;  // without the bytes, which change
  like.dtype = live.dtype;
  like.shape = live.shape;
  like.bytes = live.bytes;
  auto job = [like, what, destination](const void* bytes) -> core::LateValue {
    try {
      return value(like, bytes, what, destination);
    } catch (const core::Error& problem) {
      // The tensor cannot be logged this way. A replay reports the same.
      core::warn_once("'" + destination.name + "' is not logged as asked for: " + problem.what());
      return {core::json_text({{"error", problem.what()}}), {}};
    }
  };
  const bool writes = destination.files != nullptr && what.kind != Observation::Kind::summary;
  return background.submit(live, std::move(job), std::move(after), writes);
}

}  // namespace flor::logging
