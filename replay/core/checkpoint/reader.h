// Reads checkpoint files (format: core/checkpoint/header.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/checkpoint/buffers.h"
#include "core/checkpoint/header.h"
#include "core/store/store.h"

namespace flor::core {

// A checkpoint in memory: mapped, with every tensor verified against its digest.
class Checkpoint {
 public:
  // Opens and verifies a file. `file` is relative to the run directory. Skips the bytes of tensors named in
  // `present`. Throws Damage if any other part is missing, cut or changed.
  static Checkpoint load(const RunDir& run, const std::string& file,
                         const std::set<std::string>& present = {});
  static CheckpointHeader header_of(const RunDir& run, const std::string& file);
  // Returns every damage in the file, one line each (file, tensor, what). Empty if it is whole.
  static std::vector<std::string> verify(const RunDir& run, const std::string& file);

  const CheckpointHeader& header() const { return header_; }
  const LoadedTensors& tensors() const { return tensors_; }
  // Memory to read a tensor into.
  struct Target {
    std::string tensor;
    void* memory = nullptr;
    std::size_t size = 0;
  };
  // Reads tensors straight into memory and verifies them while they arrive. Throws Damage if one differs from
  // what was written; the memory then holds arbitrary bytes.
  void read_into(const RunDir& run, const std::vector<Target>& targets);

  // Returns the generator states in it, by generator name.
  std::map<std::string, std::string> generators() const;

 private:
  class Mapping;
  struct Source;
  void open(const RunDir& run, const std::string& file);
  Source find(const RunDir& run, const std::string& file, const CheckpointTensor& tensor);

  std::string file_;
  CheckpointHeader header_;
  LoadedTensors tensors_;
  std::map<std::string, std::shared_ptr<Mapping>> mappings_;  // by file
};

}  // namespace flor::core
