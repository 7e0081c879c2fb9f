#include "core/materialize/image.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

#include "core/base/digest.h"
#include "core/base/uninterrupted.h"
#include "core/files/durable.h"
#include "core/process/above_streams.h"

namespace flor::core {
namespace {

// The data of files from this size on begins at a page, so that they can be written directly from memory, and
// mapped.
constexpr std::size_t large = std::size_t{1} << 20;
constexpr std::size_t page = 4096;

void find_aliases(std::vector<Entry>& entries, const std::string& file) {
  std::map<std::string, std::size_t> own;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].own()) own[entries[i].tensor.name] = i;
  }
  for (auto& entry : entries) {
    if (entry.tensor.file == file) entry.alias_of = own.at(entry.tensor.tensor);
  }
}

}  // namespace

std::vector<Entry> entries_of(const std::vector<Buffer>& live,
                              const std::vector<std::optional<Unchanged::BlobRef>>& refs,
                              const std::string& file) {
  std::vector<Entry> out;
  std::map<std::pair<const void*, std::size_t>, std::string> at;
  std::vector<std::size_t> order(live.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return dtype_size(live[a].dtype) > dtype_size(live[b].dtype);
  });
  out.reserve(live.size());
  for (const std::size_t i : order) {
    const Buffer& buffer = live[i];
    Entry entry;
    entry.tensor.name = buffer.name;
    entry.tensor.dtype = buffer.dtype;
    entry.tensor.shape = buffer.shape;
    entry.size = buffer.bytes;
    entry.bytes = static_cast<const unsigned char*>(buffer.host());
    entry.live = i;
    entry.hint = buffer.hint;
    const bool shared = buffer.data != nullptr && buffer.bytes >= Unchanged::worth_referring;
    const auto alias = shared ? at.find({buffer.data, buffer.bytes}) : at.end();
    if (i < refs.size() && refs[i]) {
      entry.tensor.digest = refs[i]->digest;
      entry.tensor.file = refs[i]->file;
      entry.tensor.tensor = refs[i]->tensor;
    } else if (alias != at.end()) {
      entry.tensor.file = file;
      entry.tensor.tensor = alias->second;
    } else {
      entry.tensor.end = buffer.bytes;
      if (shared) at.emplace(std::make_pair(buffer.data, buffer.bytes), buffer.name);
    }
    out.push_back(std::move(entry));
  }
  return out;
}

Image make_image(Tiers& tiers, const MaterializeJob& job, std::vector<Entry> entries) {
  Image image;
  image.block = job.block;
  image.at = job.at;
  image.file = job.file;
  image.header.run = tiers.run().id();
  image.header.block = job.block;
  image.header.at = job.at;
  image.entries = std::move(entries);
  find_aliases(image.entries, job.file);
  for (const auto& entry : image.entries) {
    image.header.tensors.push_back(entry.tensor);
    image.bytes += entry.size;
    if (entry.tensor.file.empty()) image.own += entry.size;
  }
  image.text.emplace(image.header, image.own >= large ? page : 8);
  for (const auto& target : tiers.targets(job.file, image.file_size())) {
    image.targets.push_back({target.tier, target.path.parent_path().string(), target.path.string(),
                             temporary_sibling(target.path).string()});
  }
  return image;
}

void complete(Image& image) noexcept {
  for (std::size_t i = 0; i < image.entries.size(); ++i) {
    const Entry& entry = image.entries[i];
    const Entry& holder = entry.alias_of == Entry::none ? entry : image.entries[entry.alias_of];
    if (entry.own() || entry.alias_of != Entry::none) image.text->set_digest(i, holder.digest.data());
  }
  image.text->seal();
}

namespace {

// Waits at the gate. Returns true for a byte of 1, which arrives when the log is durable, and false for
// another one and at the end of the pipe: its writer has refused, or is gone.
bool passes(int gate) noexcept {
  char byte = 0;
  ssize_t got = 0;
  while ((got = ::read(gate, &byte, 1)) < 0 && errno == EINTR) {
  }
  return got == 1 && byte == 1;
}

// Digests and writes all tensors, then the header.
Failure write_image(Image& image, Output& output) noexcept {
  HeaderText& text = *image.text;
  const auto data = static_cast<off_t>(text.bytes().size());
  for (std::size_t i = 0; i < image.entries.size(); ++i) {
    Entry& entry = image.entries[i];
    if (!entry.own()) continue;
    digest_to(entry.digest.data(), entry.bytes, entry.size);
    const auto offset = data + static_cast<off_t>(image.header.tensors[i].begin);
    if (const int error = output.write(entry.bytes, entry.size, offset)) return {"write", error};
  }
  complete(image);
  if (const int error = output.write(text.bytes().data(), text.bytes().size(), 0)) return {"write", error};
  if (const int error = output.finish()) return {"write", error};
  return {};
}

Failure commit(Image& image, const FileTarget& target, int fd) noexcept {
  if (const int error = step::sync(fd)) return {"sync", error};
  if (image.gate >= 0 && !passes(image.gate))
    return {"commit (the log that it covers is not durable)", ECANCELED};
  image.gate = -1;  // another attempt need not wait again
  if (const int error = step::rename(fd, target.temporary.c_str(), target.path.c_str()))
    return {"rename", error};
  if (const int error = step::sync_directory(target.directory.c_str())) {
    ::unlink(target.path.c_str());  // it exists, but may not be durable
    return {"sync the directory of", error};
  }
  return {};
}

Failure write_to(Image& image, const FileTarget& target, Output& output) noexcept {
  const int fd = above_streams(uninterrupted(
      [&] { return ::open(target.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644); }));
  if (fd < 0) return {"create", errno};
  output.begin(fd);
  Failure failure = write_image(image, output);
  // Blocks in flight must finish before the descriptor number is reused. Their errors do not belong to the
  // next file.
  if (failure) output.finish();
  if (!failure) failure = commit(image, target, fd);
  ::close(fd);
  if (failure) ::unlink(target.temporary.c_str());
  return failure;
}

}  // namespace

Failure write_file(Image& image, Output& output) noexcept {
  for (image.took = 0;; ++image.took) {
    const Failure failure = write_to(image, image.targets[image.took], output);
    const bool last = image.took + 1 == image.targets.size();
    // ECANCELED: the log is not durable, wherever the file is.
    if (!failure || last || failure.error == ECANCELED) return failure;
    image.refused = failure;
  }
}

std::string text_of(const Failure& failure, const FileTarget& target) {
  return std::string("cannot ") + failure.step + " " + target.path + ": " + std::strerror(failure.error);
}

}  // namespace flor::core
