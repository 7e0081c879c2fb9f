// Named buffers: all that the core knows of a program's state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace flor::core {

// Tells whether a buffer may have changed, without reading it: which memory it is, and a counter that most
// writes increase. Two equal hints make it likely that the bytes are equal. They do not prove it.
struct ChangeHint {
  std::array<std::uint64_t, 4> memory{};  // identity: of the object, its memory, …
  std::uint64_t version = 0;
  std::shared_ptr<const void> anchor;  // keeps the identities from being used for another memory
};

// The values of device memory as they were at one moment, held by the device.
struct Snapshot {
  std::function<void()> wait;        // until they are: then the memory itself may change
  std::function<void(void*)> fetch;  // brings them to host memory; on any thread
};

// A piece of live state: name, safetensors dtype ("F32", "I64", "U8", "BOOL", …), shape, bytes in C order.
struct Buffer {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  std::size_t bytes = 0;
  const void* data = nullptr;        // its host memory, valid until training goes on; or null, and
  std::function<void(void*)> copy;   // copies it to host memory of `bytes` bytes (device or strided memory)
  std::shared_ptr<const void> keep;  // what `data` lies in, where it might not outlive the walk
  bool device = false;               // it lies on a device, not in host memory; then perhaps
  std::function<std::optional<Snapshot>()> snapshot;  // begins one; nothing where the device has no room
  std::optional<ChangeHint> hint;                     // none: it has to be looked at
  std::vector<unsigned char> owned;  // `data` when it has no home of its own (numbers, flags)

  static Buffer of_bytes(std::string name, std::string dtype, std::vector<int64_t> shape, const void* bytes,
                         std::size_t size);
  void copy_to(void* destination) const;
  // Its bytes, where they lie in host memory; null where only `copy` reaches them.
  const void* host() const { return copy ? nullptr : data != nullptr ? data : owned.data(); }
};

// A piece of recorded state, verified. The memory is the owner's.
struct LoadedTensor {
  std::string dtype;
  std::vector<int64_t> shape;
  const unsigned char* data = nullptr;  // null: the object holds these bytes already
  std::size_t bytes = 0;
};
using LoadedTensors = std::map<std::string, LoadedTensor>;

// The objects that a block or guard was given, by reference. Implemented by a front end.
class State {
 public:
  virtual ~State() = default;

  // Live state, read anew at each call. Throws when an object cannot be saved.
  virtual std::vector<Buffer> save() = 0;

  // Bytes that save() does not hold yet, but will once the objects were used: what an optimizer makes in its
  // first step. As far as it can be told.
  virtual std::size_t bytes_to_come() { return 0; }

  // Why recorded state does not fit the objects; nothing when it does.
  virtual std::optional<std::string> misfit(const LoadedTensors& tensors) = 0;

  // Writes recorded state into the objects, in place. Nothing is written unless all of it fits; then the
  // reason why it does not fit is returned. Throws where it fails half-way.
  virtual std::optional<std::string> restore(const LoadedTensors& tensors) = 0;
};

// A front end's generators and environment: what the core must know of LibTorch, or of Python.
class Frontend {
 public:
  virtual ~Frontend() = default;

  // State of the default random number generators by name: "cpu", "cuda0", …
  virtual std::map<std::string, std::string> generators() = 0;
  virtual void set_generators(const std::map<std::string, std::string>& states) = 0;

  // What must match for bit equality (threads, CPU capability, BLAS, GPU, versions, determinism flags).
  virtual std::map<std::string, std::string> environment() = 0;
  // Environment variables that a launcher must set for that before the process starts.
  virtual std::map<std::string, std::string> preset() = 0;
  // Sets what can be set while the process runs (thread counts, determinism flags).
  virtual void apply(const std::map<std::string, std::string>& environment) = 0;
  // Waits for the device, so that a clock read now covers the work that was queued.
  virtual void synchronize() = 0;
};

// Number of elements; bytes of one element of a safetensors dtype (0: unknown).
int64_t elements(const std::vector<int64_t>& shape);
std::size_t dtype_size(const std::string& dtype);
std::string shape_text(const std::vector<int64_t>& shape);  // "2x3", "" for a scalar

std::string digest_of(const Buffer& buffer);  // of its bytes

// The state digest (docs/formats.md) of live state; generator states are left out.
std::string state_digest(const std::vector<Buffer>& buffers);
struct DigestLine {
  std::string name, dtype;
  std::vector<int64_t> shape;
  std::string digest;
};
std::string state_lines(std::vector<DigestLine> lines);  // what it is the digest of

// What a checkpoint holds of a state, with the states of the generators. Throws as State::save().
std::vector<Buffer> live_buffers(State& state, Frontend& frontend);

inline constexpr const char* generator_prefix = "generator.";

}  // namespace flor::core
