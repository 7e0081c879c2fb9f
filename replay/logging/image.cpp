#include "logging/image.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/base/error.h"
#include "core/checkpoint/buffers.h"
#include "logging/elements.h"

namespace flor::logging {
namespace {

struct Layout {
  std::size_t height = 0, width = 0, channels = 1;
  bool planar = false;  // channel by channel
};

bool is_channels(int64_t extent) {
  return extent >= 1 && extent <= 4;
}

Layout layout_of(const std::string& dtype, const std::vector<int64_t>& shape) {
  const bool bytes = dtype == "U8";
  const bool known = bytes || dtype == "F32" || dtype == "F64" || dtype == "F16" || dtype == "BF16";
  Layout layout;
  const bool flat = shape.size() == 2;
  const bool front = shape.size() == 3 && is_channels(shape[0]);
  const bool behind = shape.size() == 3 && is_channels(shape[2]);
  if (!known || !(flat || front || behind)) {
    throw core::Error(
        "a " + dtype + " tensor of shape " + core::shape_text(shape) +
        " is no image; those are U8 or floating point, HxW, HxWxC or CxHxW with 1 to 4 channels");
  }
  layout.planar = front && !(bytes && behind);
  const std::size_t first = layout.planar ? 1 : 0;
  layout.height = static_cast<std::size_t>(shape[first]);
  layout.width = static_cast<std::size_t>(shape[first + 1]);
  if (!flat) layout.channels = static_cast<std::size_t>(layout.planar ? shape[0] : shape[2]);
  constexpr std::size_t most = std::numeric_limits<uint32_t>::max() / 8;
  if (layout.height == 0 || layout.width == 0 || layout.height > most || layout.width > most) {
    throw core::Error("an image of " + core::shape_text(shape) + " has no pixels, or too many");
  }
  return layout;
}

template <class Element>
unsigned char pixel(Element element) {
  if constexpr (std::is_same_v<Element, uint8_t>) {
    return element;
  } else {
    const double value = widened(element) * 255.0;
    return value > 0 ? static_cast<unsigned char>(std::lround(std::min(value, 255.0)))
                     : 0;  // NaN is not above 0
  }
}

template <class Element>
void convert(const unsigned char* bytes, const Layout& layout, std::vector<unsigned char>& pixels) {
  const std::size_t area = layout.height * layout.width;
  for (std::size_t i = 0; i < area; ++i) {
    for (std::size_t c = 0; c < layout.channels; ++c) {
      const std::size_t from = layout.planar ? c * area + i : i * layout.channels + c;
      Element element;
      std::memcpy(&element, bytes + from * sizeof element, sizeof element);
      pixels[i * layout.channels + c] = pixel(element);
    }
  }
}

}  // namespace

Image image_of(const void* bytes, const std::string& dtype, const std::vector<int64_t>& shape) {
  const Layout layout = layout_of(dtype, shape);
  Image image;
  image.width = static_cast<uint32_t>(layout.width);
  image.height = static_cast<uint32_t>(layout.height);
  image.channels = static_cast<uint32_t>(layout.channels);
  image.pixels.resize(layout.height * layout.width * layout.channels);
  with_element(dtype, [&](auto element) {
    convert<decltype(element)>(static_cast<const unsigned char*>(bytes), layout, image.pixels);
  });
  return image;
}

std::vector<unsigned char> encode_png(const Image& image) {
  constexpr std::array<png_uint_32, 4> formats = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                                  PNG_FORMAT_RGBA};
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = image.width;
  png.height = image.height;
  png.format = formats.at(image.channels - 1);
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::vector<unsigned char> file(size);
  const int written = png_image_write_to_memory(&png, file.data(), &size, 0, image.pixels.data(), 0, nullptr);
  const std::string why = png.message;
  png_image_free(&png);
  if (written == 0) throw core::Error("the image cannot be encoded: " + why);
  file.resize(size);
  return file;
}

}  // namespace flor::logging
