// A checkpoint before it is a file: its header without digests, and where the bytes of each tensor lie.
//
// The code that makes an image may allocate and throw. The code that writes it does neither, so a forked
// child can write it as well as a thread.
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
  // `file` set: the bytes lie in that file.
  CheckpointTensor tensor;
  // The bytes in host memory. Null until they are copied there.
  const unsigned char* bytes = nullptr;
  std::size_t size = 0;
  // The entry that has the same memory and stores it.
  std::size_t alias_of = none;
  // Index in the live buffers.
  std::size_t live = 0;
  std::optional<ChangeHint> hint;
  // Hex digits, set when the image is written.
  std::array<char, 32> digest{};

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  // Whether this file stores the bytes.
  bool own() const { return tensor.file.empty(); }
};

// The step at which a write failed, and its errno.
struct Failure {
  const char* step = nullptr;
  int error = 0;
  explicit operator bool() const { return step != nullptr; }
};

// Receives the bytes of a file. Calls return 0 or an errno.
class Output {
 public:
  virtual ~Output() = default;
  virtual void begin(int fd) noexcept = 0;
  // `bytes` must not change until finish() returns.
  virtual int write(const void* bytes, std::size_t size, off_t offset) noexcept = 0;
  virtual int finish() noexcept = 0;
};

// One place where the file may be written, with the names that durable writing needs.
struct FileTarget {
  Tier tier = Tier::store;
  std::string directory, path, temporary;
};

struct Image {
  std::string block, at, file;
  CheckpointHeader header;
  std::optional<HeaderText> text;
  // In the order of header.tensors.
  std::vector<Entry> entries;
  // Bytes of the state.
  std::size_t bytes = 0;
  // Bytes of it that this file stores.
  std::size_t own = 0;
  // They are tried in this order.
  std::vector<FileTarget> targets;
  // Index of the target that took the file.
  std::size_t took = 0;
  // Why the first target failed, if the second took the file.
  Failure refused;
  // Why the last one did.
  Failure failed;
  // The read end of a pipe, or -1. A byte in it allows the file to appear (MaterializeJob::before).
  int gate = -1;

  std::size_t file_size() const { return text->bytes().size() + own; }
};

// Makes the entries of a checkpoint in the order of its file: wider types first, so that each tensor is
// aligned. Stores a tensor that shares another's memory (tied weights) once.
std::vector<Entry> entries_of(const std::vector<Buffer>& live,
                              const std::vector<std::optional<Unchanged::BlobRef>>& refs,
                              const std::string& file);

// Lays the file out: the header, then own entries one after the other. Creates the directories of its
// targets. Throws std::system_error if no directory can be created.
Image make_image(Tiers& tiers, const MaterializeJob& job, std::vector<Entry> entries);

// Writes the file durably: under a temporary name first, then renamed. A failure leaves no file. Tries the
// next target if the first fails, and returns the failure of the last one.
// Allocates nothing, if `output` does not.
Failure write_file(Image& image, Output& output) noexcept;

// Copies the digests of the entries into the header. Allocates nothing.
void complete(Image& image) noexcept;

std::string text_of(const Failure& failure, const FileTarget& target);

}  // namespace flor::core
