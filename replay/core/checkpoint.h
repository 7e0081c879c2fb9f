// Checkpoint files: safetensors (https://github.com/huggingface/safetensors) with digests. docs/formats.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/buffers.h"
#include "core/error.h"
#include "core/store.h"

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

// The bytes of the header, length prefix included. Sets each own tensor's begin and end, and the state
// digest.
std::string encode_header(CheckpointHeader& header);

// Parses and verifies the header at the start of a file of `file_bytes` bytes. Throws Damage naming `file`.
CheckpointHeader decode_header(const unsigned char* bytes, std::uint64_t file_bytes, const std::string& file);

// A checkpoint in memory: mapped, every tensor verified against its digest.
class Checkpoint {
 public:
  // `file` is relative to the run directory. Throws Damage when any part of it is missing, cut or changed.
  static Checkpoint load(const RunDir& run, const std::string& file);
  // Every damage of the file, one line each (file, tensor, what); empty when it is whole.
  static std::vector<std::string> verify(const RunDir& run, const std::string& file);

  const CheckpointHeader& header() const { return header_; }
  const LoadedTensors& tensors() const { return tensors_; }
  // The generator states in it, by generator name.
  std::map<std::string, std::string> generators() const;

 private:
  class Mapping;
  void resolve(const RunDir& run, const std::string& file, std::vector<std::string>* damages);

  CheckpointHeader header_;
  LoadedTensors tensors_;
  std::map<std::string, std::shared_ptr<Mapping>> mappings_;  // by file
};

}  // namespace flor::core
