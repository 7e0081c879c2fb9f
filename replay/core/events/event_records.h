// Encodes the records of TensorBoard's event files. Pure.
//
// A record is the length of the data (8 bytes), the masked CRC-32C of these 8 bytes, the data, and the masked
// CRC-32C of the data, all little endian (TensorFlow, "TFRecord"). The data is an Event in the encoding of
// Protocol Buffers; the numbers of its fields are those of TensorBoard's event.proto and summary.proto.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flor::core {

// CRC-32C (Castagnoli), as in RFC 3720.
std::uint32_t crc32c(std::string_view bytes);

// Returns the data as a record.
std::string record(std::string_view data);

// Returns the data of the first event of a file.
std::string file_version_event(double wall_time);

struct Place {
  // Seconds since 1970.
  double wall_time = 0;
  int64_t step = 0;
};
// This and the next ones return the data of one event. A scalar has 32 bits, as all readers expect it.
std::string scalar_event(const Place& place, const std::string& tag, float value);

struct Histogram {
  double min = 0, max = 0, count = 0, sum = 0, sum_of_squares = 0;
  // Of equally wide buckets from min to max; at least one.
  std::vector<double> counts;
};
std::string histogram_event(const Place& place, const std::string& tag, const Histogram& histogram);

// `channels`: 1 to 4. `png`: the bytes of a PNG file.
std::string image_event(const Place& place, const std::string& tag, int width, int height, int channels,
                        std::string_view png);

}  // namespace flor::core
