#include "export/pytorch.h"

#include <fcntl.h>
#include <minizip/zip.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/files/shared_directory.h"
#include "export/pickle.h"

namespace flor::exporting {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t alignment = 64;
constexpr std::size_t large = 0xffffffff;  // from here on an entry needs zip's 64-bit fields

// Creates the file first, because minizip opens by name, and would follow a link that someone planted.
zipFile new_archive(const fs::path& path) {
  core::create_new(AT_FDCWD, path);
  return ::zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
}

// A zip archive under a temporary name, with stored entries.
class Archive {
 public:
  explicit Archive(fs::path path)
      : path_(std::move(path)), temporary_(core::temporary_sibling(path_)), zip_(new_archive(temporary_)) {
    if (zip_ == nullptr) fail();
  }
  ~Archive() {
    if (zip_ != nullptr) ::zipClose(zip_, nullptr);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  void add(const std::string& name, const void* bytes, std::size_t size) {
    const bool zip64 = size >= large;
    const std::string padding = padding_for(name, zip64);
    const zip_fileinfo no_date{};
    errno = 0;
    const int opened =
        ::zipOpenNewFileInZip64(zip_, name.c_str(), &no_date, padding.data(),
                                static_cast<uInt>(padding.size()), nullptr, 0, nullptr, 0, 0, zip64 ? 1 : 0);
    if (opened != ZIP_OK) fail();
    const char* at = static_cast<const char*>(bytes);
    for (std::size_t left = size; left > 0;) {
      const std::size_t step = std::min(left, std::size_t{1} << 30);
      if (::zipWriteInFileInZip(zip_, at, static_cast<unsigned>(step)) != ZIP_OK) fail();
      at += step;
      left -= step;
    }
    if (::zipCloseFileInZip(zip_) != ZIP_OK) fail();
    offset_ += header_bytes(name, zip64) + padding.size() + size;
  }

  void commit() {
    errno = 0;
    const int closed = ::zipClose(std::exchange(zip_, nullptr), nullptr);
    if (closed != ZIP_OK) fail();
    const int fd = ::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC);
    const bool synced = fd >= 0 && ::fsync(fd) == 0;
    const int error = errno;
    if (fd >= 0) ::close(fd);
    errno = error;
    if (!synced || ::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
    temporary_.clear();
    core::sync_directory(path_.parent_path());
  }

 private:
  [[noreturn]] void fail() const {
    throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(),
                            "cannot write " + path_.string());
  }

  // Size of the local header of an entry, without padding (APPNOTE.TXT 4.3.7, 4.5.3).
  static std::size_t header_bytes(const std::string& name, bool zip64) {
    return 30 + name.size() + (zip64 ? 20 : 0);
  }

  // An extra field, as PyTorch writes it ("FB", caffe2/serialize/inline_container.cc). It makes the bytes of
  // the entry begin at a multiple of `alignment`.
  std::string padding_for(const std::string& name, bool zip64) const {
    const std::size_t data = offset_ + header_bytes(name, zip64) + 4;
    const std::size_t size = (alignment - data % alignment) % alignment;
    std::string out = "FB";
    out += static_cast<char>(size);
    out += '\0';
    return out + std::string(size, 'Z');
  }

  fs::path path_, temporary_;
  zipFile zip_;
  std::size_t offset_ = 0;  // of the next entry
};

// Converts to I64, for unsigned types that PyTorch files do not have. A U64 of 2^63 or more keeps its bits.
template <class Number>
std::vector<unsigned char> as_i64(const core::LoadedTensor& tensor) {
  std::vector<unsigned char> out(tensor.bytes / sizeof(Number) * sizeof(std::int64_t));
  for (std::size_t i = 0; i * sizeof(Number) < tensor.bytes; ++i) {
    Number number{};
    std::memcpy(&number, tensor.data + i * sizeof(Number), sizeof(Number));
    const auto wide = static_cast<std::int64_t>(number);
    std::memcpy(out.data() + i * sizeof(wide), &wide, sizeof(wide));
  }
  return out;
}

std::optional<std::vector<unsigned char>> widened(const core::LoadedTensor& tensor) {
  if (tensor.dtype == "U16") return as_i64<std::uint16_t>(tensor);
  if (tensor.dtype == "U32") return as_i64<std::uint32_t>(tensor);
  if (tensor.dtype == "U64") return as_i64<std::uint64_t>(tensor);
  return std::nullopt;
}

// Returns true for complex numbers, which the front end stores as pairs of reals and marks in NAME@kind
// (docs/formats.md).
bool is_complex(const std::string& name, const core::LoadedTensor& tensor, const core::LoadedTensors& all) {
  const auto kind = all.find(name + "@kind");
  if (kind == all.end() || tensor.shape.empty() || tensor.shape.back() != 2) return false;
  const std::string said(reinterpret_cast<const char*>(kind->second.data), kind->second.bytes);
  return said.find("complex") != std::string::npos;
}

// Returns dtype and shape for PyTorch.
std::pair<std::string, std::vector<int64_t>> described(const std::string& name,
                                                       const core::LoadedTensor& tensor,
                                                       const core::LoadedTensors& all) {
  if (widened(tensor)) return {"I64", tensor.shape};
  if (!is_complex(name, tensor, all)) return {tensor.dtype, tensor.shape};
  return {"complex " + tensor.dtype, {tensor.shape.begin(), tensor.shape.end() - 1}};
}

}  // namespace

void write_pytorch(const fs::path& path, const core::LoadedTensors& tensors) {
  std::vector<PickledTensor> pickled;
  for (const auto& [name, tensor] : tensors) {
    const auto [dtype, shape] = described(name, tensor, tensors);
    const auto storage = storage_of(dtype);
    if (!storage) {
      throw core::UsageError("tensor " + name + " is " + dtype +
                             ", which PyTorch files do not have; use --format safetensors");
    }
    pickled.push_back({name, *storage, shape});
  }
  // Names and order as in torch.save. Readers take the folder of the first entry for that of the archive.
  Archive archive(path);
  const std::string pickle = pickled_dict(pickled);
  archive.add("archive/data.pkl", pickle.data(), pickle.size());
  archive.add("archive/byteorder", "little", 6);
  std::size_t key = 0;
  for (const auto& [name, tensor] : tensors) {
    const auto wide = widened(tensor);
    archive.add("archive/data/" + std::to_string(key++), wide ? wide->data() : tensor.data,
                wide ? wide->size() : tensor.bytes);
  }
  archive.add("archive/version", "3\n", 2);
  archive.commit();
}

}  // namespace flor::exporting
