#include "core/checkpoint/reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/base/digest.h"
#include "core/base/parallel.h"
#include "core/files/descriptor.h"
#include "core/files/make_readable.h"
#include "core/files/trusted_file.h"
#include "core/store/local_tier.h"

namespace flor::core {
namespace {

void require(bool fine, const std::string& file, const std::string& what) {
  if (!fine) throw Damage(file + ": " + what);
}

void require_read(bool fine, const std::string& file, const std::string& what) {
  if (!fine) throw Unreadable(file + ": " + what);
}

Descriptor open_or_damage(const RunDir& run, const std::string& file) {
  require(is_inside_run(file), file.c_str(), "it is no file of the run's checkpoints");
  try {
    return open_regular(run.path / file);
  } catch (const std::system_error& problem) {
    const bool missing = problem.code() == std::errc::no_such_file_or_directory;
    if (missing) throw Damage(file + ": the file is missing" + where_else(run));
    throw Unreadable(file + ": " + problem.code().message());
  } catch (const Error& problem) {
    throw Damage(problem.what());
  }
}

std::uint64_t size_of(const Descriptor& opened) {
  struct stat info = {};
  return ::fstat(opened.get(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

// Reads `size` bytes from `offset` on. Throws Damage where they are not all there.
void read_at(const Descriptor& opened, char* bytes, std::size_t size, std::size_t offset,
             const std::string& file) {
  while (size > 0) {
    const ssize_t got = ::pread(opened.get(), bytes, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    require_read(got >= 0, file, std::string("its header cannot be read (") + std::strerror(errno) + ")");
    require(got > 0, file, "the file is truncated, its header is not all there");
    bytes += got;
    size -= static_cast<std::size_t>(got);
    offset += static_cast<std::size_t>(got);
  }
}

// Read, not mapped: a file of another user's may become shorter meanwhile, and an access to the mapping would
// end the process.
CheckpointHeader read_header(const Descriptor& opened, const std::string& file) {
  constexpr std::size_t length_bytes = 8;
  const std::uint64_t size = size_of(opened);
  require(size >= length_bytes, file, "the file is truncated, its header is not all there");
  std::string text(length_bytes, '\0');
  read_at(opened, text.data(), length_bytes, 0, file);
  const auto bytes = [&text] { return reinterpret_cast<const unsigned char*>(text.data()); };
  const auto length = static_cast<std::size_t>(header_length(bytes(), size));
  text.resize(length_bytes + length);
  read_at(opened, text.data() + length_bytes, length, length_bytes, file);
  return decode_header(bytes(), size, file);
}

struct Unmap {
  std::size_t size = 0;
  void operator()(void* bytes) const { ::munmap(bytes, size); }
};
using MappedBytes = std::unique_ptr<void, Unmap>;

}  // namespace

class Checkpoint::Mapping {
 public:
  Mapping(const RunDir& run, const std::string& file) {
    const Descriptor opened = open_or_damage(run, file);
    header = read_header(opened, file);
    const std::size_t size = header.data_offset + header.data_bytes;
    void* bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, opened.get(), 0);
    require_read(bytes != MAP_FAILED, file, std::string("cannot be read (") + std::strerror(errno) + ")");
    bytes_ = MappedBytes(bytes, {size});
  }
  // Makes the kernel read ahead what is needed.
  void fetch(std::size_t offset, std::size_t size) const {
    const std::size_t begin = offset / 4096 * 4096;
    ::madvise(static_cast<char*>(bytes_.get()) + begin, size + (offset - begin), MADV_WILLNEED);
  }
  const unsigned char* data() const { return static_cast<const unsigned char*>(bytes_.get()); }

  CheckpointHeader header;

 private:
  MappedBytes bytes_;
};

// The range of the bytes of a tensor, and the file that holds them.
struct Checkpoint::Source {
  const CheckpointTensor* tensor = nullptr;
  std::string holder;
  LoadedTensor loaded;

  void verify() const {
    constexpr std::size_t step = std::size_t{16} << 20;
    Digester digester;
    for (std::size_t done = 0; done < loaded.bytes; done += step) {
      const std::size_t size = std::min(step, loaded.bytes - done);
      require_read(make_readable(loaded.data + done, size), holder,
                   "tensor " + tensor->name + ": its bytes cannot be read from the medium");
      digester.add(loaded.data + done, size);
    }
    require(digester.hex() == tensor->digest, holder,
            "tensor " + tensor->name + ": its bytes do not match their digest");
  }
  void read(int fd, off_t offset, const Target& target) const;
};

void Checkpoint::open(const RunDir& run, const std::string& file) {
  auto& mapping = mappings_[file];
  if (!mapping) mapping = std::make_shared<Mapping>(run, file);
}

Checkpoint::Source Checkpoint::find(const RunDir& run, const std::string& file,
                                    const CheckpointTensor& tensor) {
  Source source;
  source.tensor = &tensor;
  source.holder = tensor.file.empty() ? file : tensor.file;
  open(run, source.holder);
  const Mapping& mapping = *mappings_[source.holder];
  const CheckpointTensor* held = &tensor;
  if (!tensor.file.empty()) {
    held = nullptr;
    for (const auto& other : mapping.header.tensors) {
      if (other.name == tensor.tensor && other.file.empty()) held = &other;
    }
    require(held != nullptr, file, "tensor " + tensor.name + ": " + source.holder + " does not hold it");
  }
  const std::uint64_t size = held->end - held->begin;
  const std::size_t element = dtype_size(tensor.dtype);
  const auto count = static_cast<std::uint64_t>(elements(tensor.shape));
  std::uint64_t wanted = 0;
  const bool is_countable = !__builtin_mul_overflow(count, element, &wanted);
  require(element != 0 && is_countable && size == wanted, file,
          "tensor " + tensor.name + ": its size does not match its shape");
  mapping.fetch(mapping.header.data_offset + held->begin, size);
  source.loaded = {tensor.dtype, tensor.shape, mapping.data() + mapping.header.data_offset + held->begin,
                   size};
  return source;
}

// Reads the file instead of the mapping: no page faults, and each part is still in the cache when it is
// hashed.
void Checkpoint::Source::read(int fd, off_t offset, const Target& target) const {
  require(loaded.bytes == target.size, holder, "tensor " + tensor->name + ": its size is not the object's");
  constexpr std::size_t step = std::size_t{512} << 10;
  Digester digester;
  for (std::size_t done = 0; done < target.size;) {
    char* at = static_cast<char*>(target.memory) + done;
    const ssize_t got =
        ::pread(fd, at, std::min(step, target.size - done), offset + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    require_read(got >= 0, holder,
                 "tensor " + tensor->name + ": its bytes cannot be read (" + std::strerror(errno) + ")");
    require(got > 0, holder,
            "tensor " + tensor->name + ": the file is truncated, its bytes are not all there");
    digester.add(at, static_cast<std::size_t>(got));
    done += static_cast<std::size_t>(got);
  }
  require(digester.hex() == tensor->digest, holder,
          "tensor " + tensor->name + ": its bytes do not match their digest");
}

void Checkpoint::read_into(const RunDir& run, const std::vector<Target>& targets) {
  std::map<std::string, const CheckpointTensor*> named;
  for (const auto& tensor : header_.tensors) named[tensor.name] = &tensor;
  std::map<std::string, Descriptor> files;
  std::vector<Source> sources;
  for (const auto& target : targets) {
    sources.push_back(find(run, file_, *named.at(target.tensor)));
    const std::string& holder = sources.back().holder;
    if (files.count(holder) == 0) files.emplace(holder, open_or_damage(run, holder));
  }
  in_parallel(targets.size(), [&](std::size_t i) {
    const Source& source = sources[i];
    const auto offset = source.loaded.data - mappings_.at(source.holder)->data();
    source.read(files.at(source.holder).get(), static_cast<off_t>(offset), targets[i]);
  });
}

CheckpointHeader Checkpoint::header_of(const RunDir& run, const std::string& file) {
  return read_header(open_or_damage(run, file), file);
}

Checkpoint Checkpoint::load(const RunDir& run, const std::string& file,
                            const std::set<std::string>& present) {
  Checkpoint checkpoint;
  checkpoint.file_ = file;
  checkpoint.open(run, file);
  checkpoint.header_ = checkpoint.mappings_[file]->header;
  std::vector<Source> sources;
  for (const auto& tensor : checkpoint.header_.tensors) {
    if (present.count(tensor.name) > 0) {
      checkpoint.tensors_[tensor.name] = {tensor.dtype, tensor.shape, nullptr, 0};
    } else {
      sources.push_back(checkpoint.find(run, file, tensor));
      checkpoint.tensors_[tensor.name] = sources.back().loaded;
    }
  }
  in_parallel(sources.size(), [&](std::size_t i) { sources[i].verify(); });
  return checkpoint;
}

std::vector<std::string> Checkpoint::verify(const RunDir& run, const std::string& file) {
  std::vector<std::string> damages;
  try {
    Checkpoint checkpoint;
    checkpoint.open(run, file);
    checkpoint.header_ = checkpoint.mappings_[file]->header;
    for (const auto& tensor : checkpoint.header_.tensors) {
      try {
        checkpoint.find(run, file, tensor).verify();
      } catch (const Damage& damage) {
        damages.emplace_back(damage.what());
      }
    }
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
