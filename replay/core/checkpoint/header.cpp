#include "core/checkpoint/header.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_map>

#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/checkpoint/buffers.h"
#include "core/checkpoint/safetensors.h"

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

// Placeholder of a digest: this character, which JSON does not escape and no name may contain, and a number.
constexpr char place_mark = '\x7f';

std::string place_of(std::size_t number) {
  std::string digits = std::to_string(number);
  return place_mark + std::string(31 - digits.size(), '0') + digits;
}

std::size_t place_at(const std::string& text, std::size_t at) {
  return std::stoull(text.substr(at + 1, 31));
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
  // The digest of the header comes first, so that no other string can precede it.
  return {{"flor.header", blank_digest},    {"flor.format", "1"},
          {"flor.run", header.run},         {"flor.block", header.block},
          {"flor.at", header.at},           {"flor.state", header.state},
          {"flor.digests", digests.dump()}, {"flor.elsewhere", elsewhere.dump()}};
}

void require(bool fine, const std::string& file, const std::string& what) {
  if (!fine) throw Damage(file + ": " + what);
}

// Verifies the digest of the header in its text, before any of it is parsed.
void verify_header_digest(std::string text, const std::string& file) {
  const auto at = text.find(header_key);
  require(at != std::string::npos && at + std::strlen(header_key) + 32 <= text.size(), file,
          "header: its digest is missing");
  const auto digits = at + std::strlen(header_key);
  const std::string recorded = text.substr(digits, 32);
  text.replace(digits, 32, blank_digest);
  require(digest_of(text) == recorded, file, "header: its digest does not match, the header was changed");
}

// Its elements can be counted.
void require_shape(const CheckpointTensor& tensor, const std::string& file) {
  int64_t count = 1;
  bool fine = true;
  for (const int64_t extent : tensor.shape)
    fine = fine && extent >= 0 && !__builtin_mul_overflow(count, extent, &count);
  require(fine, file, "tensor " + tensor.name + ": the header's shape is none");
}

std::vector<int64_t> shape_in(const Json& tensor) {
  std::vector<int64_t> shape;
  for (const auto& extent : tensor.at("shape")) shape.push_back(integer_in<int64_t>(extent));
  return shape;
}

CheckpointTensor own_tensor(const std::string& name, const Json& json, const std::string& file,
                            std::uint64_t data) {
  CheckpointTensor tensor;
  tensor.name = name;
  tensor.dtype = json.at("dtype").get<std::string>();
  tensor.shape = shape_in(json);
  tensor.begin = integer_in<std::uint64_t>(json.at("data_offsets").at(0));
  tensor.end = integer_in<std::uint64_t>(json.at("data_offsets").at(1));
  require(tensor.begin <= tensor.end && tensor.end <= data, file,
          "tensor " + name + ": the file is truncated, its bytes are not all there");
  require_shape(tensor, file);
  return tensor;
}

Json parse_or_damage(const std::string& text, const std::string& file) {
  Json json = parse_json(text);
  require(json.is_object(), file, "header: it is no JSON object");
  return json;
}

// By name: the library looks for a member of an object from its first one on.
std::unordered_map<std::string, std::string> texts_of(const Json& object) {
  std::unordered_map<std::string, std::string> texts;
  for (const auto& [name, text] : object.items()) texts[name] = text.get<std::string>();
  return texts;
}

void parse_header(const std::string& text, std::uint64_t data_bytes, const std::string& file,
                  CheckpointHeader& out) {
  const Json json = parse_or_damage(text, file);
  const Json& meta = json.at("__metadata__");
  require(meta.at("flor.format") == "1", file, "header: an unknown format");
  out.run = meta.at("flor.run").get<std::string>();
  out.block = meta.at("flor.block").get<std::string>();
  out.at = meta.at("flor.at").get<std::string>();
  out.state = meta.at("flor.state").get<std::string>();
  const auto digests = texts_of(parse_or_damage(meta.at("flor.digests").get<std::string>(), file));
  for (const auto& [name, entry] : json.items()) {
    if (name == "__metadata__") continue;
    out.tensors.push_back(own_tensor(name, entry, file, data_bytes));
  }
  const Json elsewhere = parse_or_damage(meta.at("flor.elsewhere").get<std::string>(), file);
  for (const auto& [name, entry] : elsewhere.items()) {
    CheckpointTensor tensor;
    tensor.name = name;
    tensor.dtype = entry.at("dtype").get<std::string>();
    tensor.shape = shape_in(entry);
    tensor.file = entry.at("file").get<std::string>();
    tensor.tensor = entry.at("tensor").get<std::string>();
    require_shape(tensor, file);
    require(is_inside_run(tensor.file), file, "tensor " + name + ": refers to a file outside of the run");
    out.tensors.push_back(std::move(tensor));
  }
  for (auto& tensor : out.tensors) {
    const auto digest = digests.find(tensor.name);
    require(digest != digests.end(), file, "tensor " + tensor.name + ": its digest is missing");
    tensor.digest = digest->second;
  }
}

}  // namespace

HeaderText::HeaderText(CheckpointHeader& header, std::size_t alignment) {
  std::vector<DigestLine> lines;
  Json json = Json::object();
  json["__metadata__"] = Json::object();
  CheckpointHeader blank = header;
  blank.state = place_of(blank.tensors.size());
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < header.tensors.size(); ++i) {
    auto& tensor = header.tensors[i];
    if (tensor.name.find(place_mark) != std::string::npos)
      throw Error("the name " + tensor.name + " holds a control character and cannot be stored");
    blank.tensors[i].digest = place_of(i);
    lines.push_back({tensor.name, tensor.dtype, tensor.shape, blank.tensors[i].digest});
    if (!tensor.file.empty()) continue;
    const std::uint64_t size = tensor.end - tensor.begin;
    tensor.begin = offset;
    tensor.end = offset += size;
    json[tensor.name] = safetensors_entry(tensor.dtype, tensor.shape, tensor.begin, tensor.end);
  }
  json["__metadata__"] = metadata_of(blank);
  text_ = safetensors_head(json.dump(), alignment);
  lines_ = state_lines(std::move(lines));
  find_places(header.tensors.size());
  header.data_offset = text_.size();
  header.data_bytes = offset;
  for (std::size_t i = 0; i < header.tensors.size(); ++i) {
    if (!header.tensors[i].digest.empty()) set_digest(i, header.tensors[i].digest.data());
  }
}

void HeaderText::find_places(std::size_t tensors) {
  in_text_.assign(tensors, std::string::npos);
  in_lines_.assign(tensors, std::string::npos);
  for (auto at = text_.find(place_mark, 8); at != std::string::npos; at = text_.find(place_mark, at + 1)) {
    const auto i = place_at(text_, at);
    (i == tensors ? state_ : in_text_[i]) = at;
  }
  for (auto at = lines_.find(place_mark); at != std::string::npos; at = lines_.find(place_mark, at + 1)) {
    in_lines_[place_at(lines_, at)] = at;
  }
  own_ = text_.find(header_key, 8) + std::strlen(header_key);
}

void HeaderText::set_digest(std::size_t tensor, const char* hex) noexcept {
  std::memcpy(text_.data() + in_text_[tensor], hex, 32);
  // Generator states are not part of the state digest.
  if (in_lines_[tensor] != std::string::npos) std::memcpy(lines_.data() + in_lines_[tensor], hex, 32);
}

void HeaderText::seal() noexcept {
  digest_to(text_.data() + state_, lines_.data(), lines_.size());
  std::memset(text_.data() + own_, '0', 32);
  digest_to(text_.data() + own_, text_.data() + 8, text_.size() - 8);
}

std::string encode_header(CheckpointHeader& header) {
  HeaderText text(header);
  text.seal();
  header.state = text.state();
  return std::string(text.bytes());
}

std::uint64_t header_length(const unsigned char* bytes, std::uint64_t file_bytes) {
  return std::min({read_length(bytes), max_header, file_bytes - 8});
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
  } catch (const std::out_of_range& problem) {
    throw Damage(file + ": header: " + problem.what());
  }
  return header;
}

bool is_inside_run(const std::string& file) {
  constexpr std::string_view folder = "checkpoints/";
  if (file.rfind(folder, 0) != 0 || file.find('\0') != std::string::npos) return false;
  const std::string_view below = std::string_view(file).substr(folder.size());
  const auto slash = below.find('/');
  const auto is_name = [](std::string_view name) {
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
  };
  return slash != std::string_view::npos && is_name(below.substr(0, slash)) &&
         is_name(below.substr(slash + 1));
}

std::vector<std::string> referred_files(const CheckpointHeader& header, const std::string& file) {
  std::set<std::string> files;
  for (const auto& tensor : header.tensors) {
    if (!tensor.file.empty() && tensor.file != file) files.insert(tensor.file);
  }
  return {files.begin(), files.end()};
}

}  // namespace flor::core
