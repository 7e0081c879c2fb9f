// The header of a checkpoint file: safetensors (https://github.com/huggingface/safetensors) with digests.
// Described in docs/formats.md, "Checkpoint files".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace flor::core {

// A checkpoint that cannot be used: missing, unreadable, changed since it was written, or of other objects
// than the program's. The message names the file, and the tensor where there is one.
class Damage : public Error {
 public:
  using Error::Error;
};
// The system refuses to read a file now. It may be whole.
class Unreadable : public Damage {
 public:
  using Damage::Damage;
};

// One tensor in the header of a checkpoint.
struct CheckpointTensor {
  std::string name, dtype;
  std::vector<int64_t> shape;
  std::string digest;
  // Range in the data of this file, if `file` is empty.
  std::uint64_t begin = 0, end = 0;
  // Otherwise: the earlier file that holds the bytes, and the name of the tensor there.
  std::string file, tensor;
};

struct CheckpointHeader {
  std::string run, block, at, state;
  std::vector<CheckpointTensor> tensors;
  // Where the bytes of the tensors begin in the file.
  std::uint64_t data_offset = 0;
  std::uint64_t data_bytes = 0;
};

// The bytes of a header, length prefix included. Digests are filled in last.
// Motivation: everything else is known before the first byte is hashed. So a forked child, which must not
// allocate, can complete the header.
class HeaderText {
 public:
  // Sets begin and end of each tensor that this file stores, in order. The data begins at a multiple of
  // `alignment`. Keeps digests that `header` already has. Throws Error for a name that cannot be stored.
  explicit HeaderText(CheckpointHeader& header, std::size_t alignment = 8);

  // `hex`: 32 digits. Allocates nothing.
  void set_digest(std::size_t tensor, const char* hex) noexcept;
  // Fills in the state digest and the digest of the header. All tensor digests must be set. Allocates
  // nothing.
  void seal() noexcept;

  std::string_view bytes() const { return text_; }
  std::string_view state() const { return std::string_view(text_).substr(state_, 32); }

 private:
  void find_places(std::size_t tensors);

  // The text, with blanks where digests will stand.
  std::string text_;
  // The text that the state digest is computed from.
  std::string lines_;
  std::vector<std::size_t> in_text_, in_lines_;
  std::size_t state_ = 0, own_ = 0;
};

// Is it the name of a file in the run's checkpoints, relative to the run? A record that was copied may name
// others.
bool is_inside_run(const std::string& file);

// Encodes a header whose tensors have their digests. Sets begin, end, state, data_offset and data_bytes.
std::string encode_header(CheckpointHeader& header);

// Reads the length of the header from the first eight bytes. Returns at most the largest allowed header, and
// at most the bytes that follow in the file.
std::uint64_t header_length(const unsigned char* bytes, std::uint64_t file_bytes);

// Parses and verifies the header at the start of a file of `file_bytes` bytes. Throws Damage naming `file`.
CheckpointHeader decode_header(const unsigned char* bytes, std::uint64_t file_bytes, const std::string& file);

// Returns the other files that hold bytes of the tensors, each once.
std::vector<std::string> referred_files(const CheckpointHeader& header, const std::string& file);

}  // namespace flor::core
