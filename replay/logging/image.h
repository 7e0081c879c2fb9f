// Tensors as pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace flor::logging {

// 8 bits a channel, rows from the top, channels of a pixel side by side: 1 grey, 2 grey and alpha, 3 RGB, 4
// RGB and alpha.
struct Image {
  uint32_t width = 0, height = 0, channels = 0;
  std::vector<unsigned char> pixels;
};

// Of a U8 tensor (0 … 255) or one of floating point (0 … 1; beyond that clamped, NaN as 0; rounded to the
// nearest): height x width, or with 1 to 4 channels in front or behind. Where both could be, U8 has them
// behind and floating point in front. Throws core::Error where it is none of these.
Image image_of(const void* bytes, const std::string& dtype, const std::vector<int64_t>& shape);

// The PNG file. Throws core::Error.
std::vector<unsigned char> encode_png(const Image& image);

}  // namespace flor::logging
