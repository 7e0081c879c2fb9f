#include "core/events/event_records.h"

#include <array>
#include <cstring>

namespace flor::core {
namespace {

// Little endian, whatever this machine is.
template <class Integer>
std::string fixed(Integer value) {
  std::string out(sizeof value, '\0');
  for (std::size_t i = 0; i < sizeof value; ++i) out[i] = static_cast<char>((value >> (8 * i)) & 0xFF);
  return out;
}

std::string fixed(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return fixed(bits);
}

std::string fixed(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return fixed(bits);
}

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7F) | 0x80);
  return out + static_cast<char>(value);
}

// The wire types of Protocol Buffers.
enum Wire : unsigned { as_varint = 0, as_64_bits = 1, as_bytes = 2, as_32_bits = 5 };

std::string key(unsigned field, Wire wire) {
  return varint(field << 3U | wire);
}
std::string number(unsigned field, int64_t value) {
  return key(field, as_varint) + varint(static_cast<std::uint64_t>(value));
}
std::string real(unsigned field, double value) {
  return key(field, as_64_bits) + fixed(value);
}
std::string bytes(unsigned field, std::string_view value) {
  return key(field, as_bytes) + varint(value.size()) + std::string(value);
}
std::string reals(unsigned field, const std::vector<double>& values) {
  std::string packed;
  for (const double value : values) packed += fixed(value);
  return bytes(field, packed);
}

// A Summary with one Value of this tag.
std::string event(const Place& place, const std::string& tag, const std::string& value) {
  return real(1, place.wall_time) + number(2, place.step) + bytes(5, bytes(1, bytes(1, tag) + value));
}

std::array<std::uint32_t, 256> crc_table() {
  constexpr std::uint32_t polynomial = 0x82F63B78;  // reflected
  std::array<std::uint32_t, 256> out{};
  for (std::uint32_t i = 0; i < out.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? polynomial : 0);
    out[i] = crc;
  }
  return out;
}

std::uint32_t masked_crc(std::string_view data) {
  const std::uint32_t crc = crc32c(data);
  return ((crc >> 15U) | (crc << 17U)) + 0xA282EAD8;
}

}  // namespace

std::uint32_t crc32c(std::string_view data) {
  static const std::array<std::uint32_t, 256> table = crc_table();
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char letter : data)
    crc = (crc >> 8U) ^ table[(crc ^ static_cast<unsigned char>(letter)) & 0xFFU];
  return ~crc;
}

std::string record(std::string_view data) {
  const std::string length = fixed(static_cast<std::uint64_t>(data.size()));
  return length + fixed(masked_crc(length)) + std::string(data) + fixed(masked_crc(data));
}

std::string file_version_event(double wall_time) {
  return real(1, wall_time) + bytes(3, "brain.Event:2");
}

std::string scalar_event(const Place& place, const std::string& tag, float value) {
  return event(place, tag, key(2, as_32_bits) + fixed(value));
}

std::string histogram_event(const Place& place, const std::string& tag, const Histogram& histogram) {
  std::vector<double> limits;
  const double width = (histogram.max - histogram.min) / static_cast<double>(histogram.counts.size());
  for (std::size_t i = 1; i < histogram.counts.size(); ++i)
    limits.push_back(histogram.min + width * static_cast<double>(i));
  limits.push_back(histogram.max);
  return event(place, tag,
               bytes(5, real(1, histogram.min) + real(2, histogram.max) + real(3, histogram.count) +
                            real(4, histogram.sum) + real(5, histogram.sum_of_squares) + reals(6, limits) +
                            reals(7, histogram.counts)));
}

std::string image_event(const Place& place, const std::string& tag, int width, int height, int channels,
                        std::string_view png) {
  return event(place, tag,
               bytes(4, number(1, height) + number(2, width) + number(3, channels) + bytes(4, png)));
}

}  // namespace flor::core
