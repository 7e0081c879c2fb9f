#include "core/checkpoint.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "core/digest.h"
#include "core/json.h"
#include "core/local_tier.h"

namespace flor::core {
namespace {

constexpr std::uint64_t max_header = 100U << 20;  // as the safetensors library has it
const std::string blank_digest(32, '0');
constexpr const char* header_key = "\"flor.header\":\"";

std::uint64_t read_length(const unsigned char* bytes) {
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = (length << 8) | bytes[i];
  return length;
}

Json metadata_of(const CheckpointHeader& header) {
  Json digests = Json::object();
  Json elsewhere = Json::object();
  for (const auto& tensor : header.tensors) {
    digests[tensor.name] = tensor.digest;
    if (tensor.file.empty()) continue;
    elsewhere[tensor.name] = {
        {"file", tensor.file}, {"tensor", tensor.tensor}, {"dtype", tensor.dtype}, {"shape", tensor.shape}};
  }
  // The header's own digest comes first, so that no other string of the header can stand before it.
  return {{"flor.header", blank_digest},    {"flor.format", "1"},
          {"flor.run", header.run},         {"flor.block", header.block},
          {"flor.at", header.at},           {"flor.state", header.state},
          {"flor.digests", digests.dump()}, {"flor.elsewhere", elsewhere.dump()}};
}

bool is_inside_run(const std::string& file) {
  return file.rfind("checkpoints/", 0) == 0 && file.find("..") == std::string::npos;
}

void require(bool fine, const std::string& file, const std::string& what) {
  if (!fine) throw Damage(file + ": " + what);
}

// Verifies the digest of the header in the text itself, before any of it is believed.
void verify_header_digest(std::string text, const std::string& file) {
  const auto at = text.find(header_key);
  require(at != std::string::npos && at + std::strlen(header_key) + 32 <= text.size(), file,
          "header: its digest is missing");
  const auto digits = at + std::strlen(header_key);
  const std::string recorded = text.substr(digits, 32);
  text.replace(digits, 32, blank_digest);
  require(digest_of(text) == recorded, file, "header: its digest does not match, the header was changed");
}

CheckpointTensor own_tensor(const std::string& name, const Json& json, const std::string& file,
                            std::uint64_t data) {
  CheckpointTensor tensor;
  tensor.name = name;
  tensor.dtype = json.at("dtype").get<std::string>();
  tensor.shape = json.at("shape").get<std::vector<int64_t>>();
  tensor.begin = json.at("data_offsets").at(0).get<std::uint64_t>();
  tensor.end = json.at("data_offsets").at(1).get<std::uint64_t>();
  require(tensor.begin <= tensor.end && tensor.end <= data, file,
          "tensor " + name + ": the file is truncated, its bytes are not all there");
  return tensor;
}

void parse_header(const std::string& text, std::uint64_t data_bytes, const std::string& file,
                  CheckpointHeader& out) {
  const Json json = Json::parse(text);
  const Json& meta = json.at("__metadata__");
  require(meta.at("flor.format") == "1", file, "header: an unknown format");
  out.run = meta.at("flor.run").get<std::string>();
  out.block = meta.at("flor.block").get<std::string>();
  out.at = meta.at("flor.at").get<std::string>();
  out.state = meta.at("flor.state").get<std::string>();
  const Json digests = Json::parse(meta.at("flor.digests").get<std::string>());
  for (const auto& [name, entry] : json.items()) {
    if (name == "__metadata__") continue;
    out.tensors.push_back(own_tensor(name, entry, file, data_bytes));
  }
  const Json elsewhere = Json::parse(meta.at("flor.elsewhere").get<std::string>());
  for (const auto& [name, entry] : elsewhere.items()) {
    CheckpointTensor tensor;
    tensor.name = name;
    tensor.dtype = entry.at("dtype").get<std::string>();
    tensor.shape = entry.at("shape").get<std::vector<int64_t>>();
    tensor.file = entry.at("file").get<std::string>();
    tensor.tensor = entry.at("tensor").get<std::string>();
    require(is_inside_run(tensor.file), file, "tensor " + name + ": refers to a file outside of the run");
    out.tensors.push_back(std::move(tensor));
  }
  for (auto& tensor : out.tensors) {
    tensor.digest = digests.at(tensor.name).get<std::string>();
  }
}

}  // namespace

std::string encode_header(CheckpointHeader& header) {
  std::vector<DigestLine> lines;
  Json json = Json::object();
  json["__metadata__"] = Json::object();
  std::uint64_t offset = 0;
  for (auto& tensor : header.tensors) {
    lines.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.digest});
    if (!tensor.file.empty()) continue;
    const std::uint64_t size = tensor.end - tensor.begin;
    tensor.begin = offset;
    tensor.end = offset += size;
    json[tensor.name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {tensor.begin, tensor.end}}};
  }
  header.state = state_digest(std::move(lines));
  json["__metadata__"] = metadata_of(header);
  std::string text = json.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::string digest = digest_of(text);
  text.replace(text.find(header_key) + std::strlen(header_key), 32, digest);
  std::string out(8, '\0');
  for (int i = 0; i < 8; ++i) out[static_cast<std::size_t>(i)] = static_cast<char>(text.size() >> (8 * i));
  header.data_offset = 8 + text.size();
  header.data_bytes = offset;
  return out + text;
}

CheckpointHeader decode_header(const unsigned char* bytes, std::uint64_t file_bytes,
                               const std::string& file) {
  require(file_bytes >= 8, file, "the file is truncated, its header is not all there");
  const std::uint64_t length = read_length(bytes);
  require(length <= max_header && length <= file_bytes - 8, file,
          "the file is truncated, its header is not all there");
  const std::string text(reinterpret_cast<const char*>(bytes) + 8, length);
  verify_header_digest(text, file);
  CheckpointHeader header;
  header.data_offset = 8 + length;
  header.data_bytes = file_bytes - header.data_offset;
  try {
    parse_header(text, header.data_bytes, file, header);
  } catch (const Json::exception& problem) {
    throw Damage(file + ": header: " + problem.what());
  }
  return header;
}

class Checkpoint::Mapping {
 public:
  Mapping(const RunDir& run, const std::string& file) {
    const fs::path path = run.path / file;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      throw Damage(file + ": " +
                   (errno == ENOENT ? "the file is missing" + where_else(run) : std::strerror(errno)));
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
