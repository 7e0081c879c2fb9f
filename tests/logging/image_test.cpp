#include "logging/image.h"

#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <cstring>

#include "core/base/error.h"

namespace flor::logging {
namespace {

using Bytes = std::vector<unsigned char>;

// What another program sees in the file.
Image decoded(const Bytes& file) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&png, file.data(), file.size()), 0) << png.message;
  Image out;
  out.width = png.width;
  out.height = png.height;
  out.channels = PNG_IMAGE_SAMPLE_CHANNELS(png.format);
  out.pixels.resize(PNG_IMAGE_SIZE(png));
  EXPECT_NE(png_image_finish_read(&png, nullptr, out.pixels.data(), 0, nullptr), 0) << png.message;
  return out;
}

Bytes counted(std::size_t size) {
  Bytes out(size);
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<unsigned char>(37 * i);
  return out;
}

TEST(Image, APngHoldsThePixels) {
  for (const int64_t channels : {1, 2, 3, 4}) {
    const Bytes bytes = counted(static_cast<std::size_t>(5 * 6 * channels));
    const Image image = decoded(encode_png(image_of(bytes.data(), "U8", {5, 6, channels})));
    EXPECT_EQ(image.height, 5U);
    EXPECT_EQ(image.width, 6U);
    EXPECT_EQ(image.channels, static_cast<uint32_t>(channels));
    EXPECT_EQ(image.pixels, bytes);
  }
}

TEST(Image, ChannelsInFrontAreTurned) {
  const Bytes planes = {1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16, 21, 22, 23, 24, 25, 26};  // 3 x 2 x 3
  const Bytes turned = {1, 11, 21, 2, 12, 22, 3, 13, 23, 4, 14, 24, 5, 15, 25, 6, 16, 26};
  EXPECT_EQ(image_of(planes.data(), "U8", {3, 1, 6}).pixels, turned);
  // Where both could be, U8 has them behind and floating point in front.
  EXPECT_EQ(image_of(planes.data(), "U8", {3, 2, 3}).pixels, planes);
  std::vector<float> reals;
  for (unsigned char value : planes) reals.push_back(static_cast<float>(value) / 255);
  EXPECT_EQ(image_of(reals.data(), "F32", {3, 2, 3}).pixels, turned);
}

TEST(Image, FloatsAreClampedAndRounded) {
  const std::vector<float> values = {-1, 0, 0.5F, 1, 2, NAN, INFINITY, -INFINITY, 0.4F / 255, 0.6F / 255};
  const Image image = image_of(values.data(), "F32", {1, 10});
  EXPECT_EQ(image.pixels, (Bytes{0, 0, 128, 255, 255, 0, 255, 0, 0, 1}));
  const std::vector<uint16_t> halves = {0x3c00, 0x0000, 0x3800};
  EXPECT_EQ(image_of(halves.data(), "F16", {1, 3}).pixels, (Bytes{255, 0, 128}));
}

TEST(Image, WhatIsNoneIsRefusedByName) {
  const Bytes bytes(1000);
  using Shape = std::vector<int64_t>;
  for (const Shape& shape :
       {Shape{}, Shape{6}, Shape{5, 6, 5}, Shape{2, 3, 5, 5}, Shape{0, 4}, Shape{3, 0, 4}}) {
    EXPECT_THROW(image_of(bytes.data(), "U8", shape), core::Error);
  }
  EXPECT_THROW(image_of(bytes.data(), "I64", {2, 2}), core::Error);
  try {
    image_of(bytes.data(), "U8", {5, 6, 5});
  } catch (const core::Error& error) {
    EXPECT_NE(std::string(error.what()).find("U8 tensor of shape 5x6x5"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace flor::logging
