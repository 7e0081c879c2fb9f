#include "core/checkpoint.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "core/digest.h"

namespace flor::core {
namespace {

void require(bool fine, const std::string& file, const std::string& what) {
  if (!fine) throw Damage(file + ": " + what);
}

}  // namespace

class Checkpoint::Mapping {
 public:
  Mapping(const RunDir& run, const std::string& file) {
    const fs::path path = run.path / file;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) throw Damage(file + ": " + (errno == ENOENT ? "the file is missing" : std::strerror(errno)));
    struct stat info = {};
    if (::fstat(fd, &info) == 0 && info.st_size > 0) {
      size_ = static_cast<std::size_t>(info.st_size);
      bytes_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    }
    ::close(fd);
    if (bytes_ == MAP_FAILED) throw Damage(file + ": cannot be read (" + std::strerror(errno) + ")");
    header = decode_header(data(), size_, file);
  }
  ~Mapping() {
    if (bytes_ != MAP_FAILED && bytes_ != nullptr) ::munmap(bytes_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  const unsigned char* data() const { return static_cast<const unsigned char*>(bytes_); }

  CheckpointHeader header;

 private:
  void* bytes_ = nullptr;
  std::size_t size_ = 0;
};

void Checkpoint::resolve(const RunDir& run, const std::string& file, std::vector<std::string>* damages) {
  auto mapping_of = [&](const std::string& name) {
    auto& mapping = mappings_[name];
    if (!mapping) mapping = std::make_shared<Mapping>(run, name);
    return mapping;
  };
  header_ = mapping_of(file)->header;
  auto load_tensor = [&](const CheckpointTensor& tensor) {
    const std::string& holder = tensor.file.empty() ? file : tensor.file;
    const auto mapping = mapping_of(holder);
    const CheckpointTensor* source = &tensor;
    if (!tensor.file.empty()) {
      source = nullptr;
      for (const auto& other : mapping->header.tensors) {
        if (other.name == tensor.tensor && other.file.empty()) source = &other;
      }
      require(source != nullptr, file, "tensor " + tensor.name + ": " + holder + " does not hold it");
    }
    const std::uint64_t size = source->end - source->begin;
    const std::size_t element = dtype_size(tensor.dtype);
    require(element != 0 && size == element * static_cast<std::uint64_t>(elements(tensor.shape)), file,
            "tensor " + tensor.name + ": its size does not match its shape");
    const unsigned char* bytes = mapping->data() + mapping->header.data_offset + source->begin;
    require(digest_of(bytes, size) == tensor.digest, holder,
            "tensor " + tensor.name + ": its bytes do not match their digest");
    tensors_[tensor.name] = {tensor.dtype, tensor.shape, bytes, size};
  };
  for (const auto& tensor : header_.tensors) {
    if (damages == nullptr) {
      load_tensor(tensor);
      continue;
    }
    try {
      load_tensor(tensor);
    } catch (const Damage& damage) {
      damages->push_back(damage.what());
    }
  }
}

Checkpoint Checkpoint::load(const RunDir& run, const std::string& file) {
  Checkpoint checkpoint;
  checkpoint.resolve(run, file, nullptr);
  return checkpoint;
}

std::vector<std::string> Checkpoint::verify(const RunDir& run, const std::string& file) {
  std::vector<std::string> damages;
  try {
    Checkpoint checkpoint;
    checkpoint.resolve(run, file, &damages);
  } catch (const Damage& damage) {
    damages.emplace_back(damage.what());
  }
  return damages;
}

std::map<std::string, std::string> Checkpoint::generators() const {
  std::map<std::string, std::string> out;
  const std::string prefix(generator_prefix);
  for (const auto& [name, tensor] : tensors_) {
    if (name.rfind(prefix, 0) != 0) continue;
    out[name.substr(prefix.size())] = std::string(reinterpret_cast<const char*>(tensor.data), tensor.bytes);
  }
  return out;
}

}  // namespace flor::core
