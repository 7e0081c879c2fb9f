// Converts tensors to images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace flor::logging {

// 8 bits per channel, rows from the top, channels of a pixel side by side: 1 grey, 2 grey and alpha, 3 RGB, 4
// RGBA.
struct Image {
  uint32_t width = 0, height = 0, channels = 0;
  std::vector<unsigned char> pixels;
};

// Accepts U8 (0 … 255) or floating point (0 … 1, clamped, NaN as 0, rounded to nearest). Shape: height x
// width, or with 1 to 4 channels before or after. If both fit, U8 has channels last and floating point first.
// Throws core::Error for anything else.
Image image_of(const void* bytes, const std::string& dtype, const std::vector<int64_t>& shape);

// Returns a PNG file. Throws core::Error.
std::vector<unsigned char> encode_png(const Image& image);

}  // namespace flor::logging
