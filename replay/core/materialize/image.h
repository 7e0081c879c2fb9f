// A checkpoint on its way into a file: its header without digests, and where each tensor's bytes lie.
//
// An image is made by code that may allocate and throw; writing it does neither, so that a forked child can
// do it as well as a thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/buffers.h"
#include "core/checkpoint/header.h"
#include "core/materialize/materializer.h"
#include "core/materialize/unchanged.h"
#include "core/tier/tiers.h"

namespace flor::core {

// One tensor of a checkpoint.
struct Entry {
  CheckpointTensor tensor;               // `file` set: its bytes lie there
  const unsigned char* bytes = nullptr;  // in host memory; null while they have to be copied there first
  std::size_t size = 0;
  std::size_t alias_of = none;  // the entry that has the same memory and stores it
  std::size_t live = 0;         // its place among the live buffers
  std::optional<ChangeHint> hint;
  std::array<char, 32> digest{};  // hex, when the image was written

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  bool own() const { return tensor.file.empty(); }
};

// What stopped a write: the step and its errno.
struct Failure {
  const char* step = nullptr;
  int error = 0;
  explicit operator bool() const { return step != nullptr; }
};

// Takes the bytes of a file. Calls return 0 or an errno.
class Output {
 public:
  virtual ~Output() = default;
  virtual void begin(int fd) noexcept = 0;
  // `bytes` stay as they are until finish() returns.
  virtual int write(const void* bytes, std::size_t size, off_t offset) noexcept = 0;
  virtual int finish() noexcept = 0;
};

// A place for the file, with the names that the commit chain needs.
struct FileTarget {
  Tier tier = Tier::store;
  std::string directory, path, temporary;
};

struct Image {
  std::string block, at, file;
  CheckpointHeader header;
  std::optional<HeaderText> text;
  std::vector<Entry> entries;       // as header.tensors
  std::size_t bytes = 0;            // of the state
  std::size_t own = 0;              // of those, in this file
  std::vector<FileTarget> targets;  // the first that takes it
  std::size_t took = 0;
  Failure refused;  // by the first, when the second took it
  int gate = -1;    // a pipe: one byte in it says that the file may appear, see MaterializeJob::before

  std::size_t file_size() const { return text->bytes().size() + own; }
};

// The entries of a checkpoint in the order of its file: wider types first, so that each tensor is aligned.
// A tensor that shares another's memory (tied weights) is stored once.
std::vector<Entry> entries_of(const std::vector<Buffer>& live,
                              const std::vector<std::optional<Unchanged::BlobRef>>& refs,
                              const std::string& file);

// Lays the file out: header, names. Own entries lie one behind the other. Creates the directory.
Image make_image(Tiers& tiers, const MaterializeJob& job, std::vector<Entry> entries);

// The whole chain, under the temporary name, then its own; a failure leaves nothing behind. Where the first
// target fails the next is tried; the failure of the last counts.
// Allocates nothing, as long as `output` does not.
Failure write_file(Image& image, Output& output) noexcept;

// Fills the digests of the entries into the header. Allocates nothing.
void complete(Image& image) noexcept;

std::string text_of(const Failure& failure, const FileTarget& target);

}  // namespace flor::core
