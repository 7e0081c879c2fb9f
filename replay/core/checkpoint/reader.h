// Reading checkpoint files (core/checkpoint/header.h tells what they hold).
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

// A checkpoint in memory: mapped, every tensor verified against its digest.
class Checkpoint {
 public:
  // `file` is relative to the run directory. Throws Damage when any part of it is missing, cut or changed.
  // The bytes of tensors named in `present` are not read.
  static Checkpoint load(const RunDir& run, const std::string& file,
                         const std::set<std::string>& present = {});
  static CheckpointHeader header_of(const RunDir& run, const std::string& file);
  // Every damage of the file, one line each (file, tensor, what); empty when it is whole.
  static std::vector<std::string> verify(const RunDir& run, const std::string& file);

  const CheckpointHeader& header() const { return header_; }
  const LoadedTensors& tensors() const { return tensors_; }
  // Memory that a tensor is to be read into.
  struct Target {
    std::string tensor;
    void* memory = nullptr;
    std::size_t size = 0;
  };
  // Reads them and verifies them as they arrive. Throws Damage when one is not what was written; the memory
  // then holds anything.
  void read_into(const RunDir& run, const std::vector<Target>& targets);

  // The generator states in it, by generator name.
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
