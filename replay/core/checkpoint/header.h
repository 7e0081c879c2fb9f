// The header of a checkpoint file: safetensors (https://github.com/huggingface/safetensors) with digests.
// docs/formats.md, "Checkpoint files".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace flor::core {

// A file, or a tensor of it, that is not what was written. The message names both.
class Damage : public Error {
 public:
  using Error::Error;
};

// A tensor in a checkpoint's header.
struct CheckpointTensor {
  std::string name, dtype;
  std::vector<int64_t> shape;
  std::string digest;
  std::uint64_t begin = 0, end = 0;  // in the file's data, when `file` is empty
  std::string file, tensor;          // else: the earlier file that holds the bytes, and their name there
};

struct CheckpointHeader {
  std::string run, block, at, state;
  std::vector<CheckpointTensor> tensors;
  std::uint64_t data_offset = 0;  // of the tensors' bytes in the file
  std::uint64_t data_bytes = 0;
};

// The bytes of a header, length prefix included, whose digests are filled in last.
// Motivation: all else is known before the first byte is hashed, so that a forked child, which may not
// allocate, can complete it.
class HeaderText {
 public:
  // Sets each own tensor's begin and end, in order. The data will begin at a multiple of `alignment`.
  // Digests that `header` has already are filled in. Throws Error for a name that cannot be stored.
  explicit HeaderText(CheckpointHeader& header, std::size_t alignment = 8);

  // `hex`: 32 digits. Allocates nothing, as seal().
  void set_digest(std::size_t tensor, const char* hex) noexcept;
  void seal() noexcept;  // with all digests there: fills in that of the state and the header's own

  std::string_view bytes() const { return text_; }
  std::string_view state() const { return std::string_view(text_).substr(state_, 32); }

 private:
  void find_places(std::size_t tensors);

  std::string text_;   // with blanks for the digests
  std::string lines_;  // what the state digest is computed of
  std::vector<std::size_t> in_text_, in_lines_;
  std::size_t state_ = 0, own_ = 0;
};

// A header whose tensors have their digests. Sets begin, end, state, data_offset and data_bytes.
std::string encode_header(CheckpointHeader& header);

// Bytes of the header behind its first eight, which say so; no more than a header, or the file, can have.
std::uint64_t header_length(const unsigned char* bytes, std::uint64_t file_bytes);

// Parses and verifies the header at the start of a file of `file_bytes` bytes. Throws Damage naming `file`.
CheckpointHeader decode_header(const unsigned char* bytes, std::uint64_t file_bytes, const std::string& file);

// The other files that hold bytes of a checkpoint's tensors, each once.
std::vector<std::string> referred_files(const CheckpointHeader& header, const std::string& file);

}  // namespace flor::core
