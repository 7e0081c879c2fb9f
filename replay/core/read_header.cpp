#include "core/read_header.h"

#include <fstream>
#include <set>

namespace flor::core {
namespace {

constexpr std::size_t prefix = 8;                           // the header's length in front of it
constexpr std::uint64_t credible = std::uint64_t{1} << 28;  // more than decode_header() lets pass

// `size` bytes of the file from its beginning, fewer where it ends before.
std::string first_bytes(std::ifstream& in, std::size_t size) {
  std::string bytes(size, '\0');
  in.clear();
  in.seekg(0);
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

}  // namespace

CheckpointHeader read_header(const RunDir& run, const std::string& file) {
  const fs::path path = run.path / file;
  std::error_code error;
  const std::uint64_t size = fs::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) throw Damage(file + ": " + (error ? error.message() : "cannot be read"));
  std::string bytes = first_bytes(in, prefix);
  std::uint64_t length = 0;
  for (std::size_t i = bytes.size(); i > 0; --i)
    length = (length << 8) | static_cast<unsigned char>(bytes[i - 1]);
  // A length that cannot be is decode_header's to name; it must not be believed here.
  if (bytes.size() == prefix && length <= size - prefix && length <= credible) {
    bytes = first_bytes(in, prefix + length);
    if (bytes.size() < prefix + length) throw Damage(file + ": the file is truncated while it is read");
  }
  return decode_header(reinterpret_cast<const unsigned char*>(bytes.data()), size, file);
}

std::vector<std::string> referred_files(const CheckpointHeader& header, const std::string& file) {
  std::set<std::string> files;
  for (const auto& tensor : header.tensors) {
    if (!tensor.file.empty() && tensor.file != file) files.insert(tensor.file);
  }
  return {files.begin(), files.end()};
}

}  // namespace flor::core
