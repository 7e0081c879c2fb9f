// What the core and a front end such as LibTorch exchange. The core sees a program's state as a list of named
// buffers. The front end implements State (the objects of a block or guard) and Frontend.
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
  // Identity of the object and of its memory.
  std::array<std::uint64_t, 4> memory{};
  std::uint64_t version = 0;
  // While it lives, no other object gets this identity. Null: nothing keeps others from it.
  std::shared_ptr<const void> anchor;
};

// A copy of values in device memory as they were at one moment. The device holds the copy.
struct Snapshot {
  // Returns when the copy is complete. After that the program may change what was copied.
  std::function<void()> wait;
  // Copies the values to host memory. May run on any thread.
  std::function<void(void*)> fetch;
};

// A piece of live state: name, safetensors dtype ("F32", "I64", "U8", "BOOL", …), shape, bytes in C order.
struct Buffer {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  std::size_t bytes = 0;
  // Host memory, valid until the program changes the state. Null: the bytes are in `owned`, or only `copy`
  // reaches them.
  const void* data = nullptr;
  // What is restored may have to go into other memory: `data` is only read.
  bool is_left_alone = false;
  // Copies the values to host memory of `bytes` bytes. Set for device memory and strided memory.
  std::function<void(void*)> copy;
  // Keeps `data` alive where it might not outlive the walk over the objects.
  std::shared_ptr<const void> keep;
  // Whether the values lie in device memory.
  bool device = false;
  // Begins a snapshot of device memory. Returns nothing if the device has no room.
  std::function<std::optional<Snapshot>()> snapshot;
  // None: the bytes have to be read to know whether they changed.
  std::optional<ChangeHint> hint;
  // The bytes themselves, where they lie in no object (numbers, flags).
  std::vector<unsigned char> owned;

  static Buffer of_bytes(std::string name, std::string dtype, std::vector<int64_t> shape, const void* bytes,
                         std::size_t size);
  // Copies the values to host memory of `bytes` bytes.
  void copy_to(void* destination) const;
  // Returns the bytes if they lie in host memory. Null if only `copy` reaches them.
  const void* host() const { return copy ? nullptr : data != nullptr ? data : owned.data(); }
};

// A piece of recorded state, verified. Its memory belongs to the Checkpoint that loaded it.
struct LoadedTensor {
  std::string dtype;
  std::vector<int64_t> shape;
  // Null: the object already holds these bytes.
  const unsigned char* data = nullptr;
  std::size_t bytes = 0;
};
using LoadedTensors = std::map<std::string, LoadedTensor>;

// The objects that were given to a block or guard, by reference. A front end implements it.
class State {
 public:
  virtual ~State() = default;

  // Returns the live state, read anew at each call. Throws if an object cannot be saved, and NoRoom
  // if it cannot now for want of memory.
  virtual std::vector<Buffer> save() = 0;

  // A front end may find out in the course of a run what changes, and hold more from then on. Then true, and
  // expect() gets the names of what was recorded at a place, before save() is compared with it.
  virtual bool grows() const { return false; }
  virtual void expect(const std::vector<std::string>& /*names*/) {}

  // Tells whether the objects hold all that a step of an inner loop leaves to the next one. Asked before a
  // checkpoint between two steps, which is not taken where they do not. `is_last`: the process ends behind
  // it.
  virtual bool ready(bool /*is_last*/) { return true; }

  // Estimates the bytes that save() does not return yet, but will once the objects were used. Example: what
  // an optimizer allocates in its first step.
  virtual std::size_t bytes_to_come() { return 0; }

  // Returns why recorded state does not fit the objects. Nothing if it fits.
  virtual std::optional<std::string> misfit(const LoadedTensors& tensors) = 0;

  // Writes recorded state into the objects, in place. If any part does not fit it writes nothing and returns
  // the reason. Throws if it fails half-way.
  virtual std::optional<std::string> restore(const LoadedTensors& tensors) = 0;
};

// The random number generators and the environment of LibTorch, or of another front end.
class Frontend {
 public:
  virtual ~Frontend() = default;

  // Returns the states of the default random number generators by name: "cpu", "cuda0", …
  virtual std::map<std::string, std::string> generators() = 0;
  virtual void set_generators(const std::map<std::string, std::string>& states) = 0;

  // Returns what must match for bit equality: threads, CPU capability, BLAS, GPU, versions, determinism
  // flags.
  virtual std::map<std::string, std::string> environment() = 0;
  // Returns the environment variables that a launcher must set before the process starts.
  virtual std::map<std::string, std::string> preset() = 0;
  // Sets what can be set in a running process: thread counts, determinism flags.
  virtual void apply(const std::map<std::string, std::string>& environment) = 0;
  // Waits for the device, so that a clock read afterwards covers the queued work.
  virtual void synchronize() = 0;

  // Returns the absolute paths of the program's source files, where the program itself does not name them
  // (sources/sources.h): a program in an interpreted language.
  virtual std::vector<std::string> sources() { return {}; }
};

// Returns the number of elements of a tensor.
int64_t elements(const std::vector<int64_t>& shape);
// Returns the bytes of one element of a safetensors dtype. 0: unknown dtype.
std::size_t dtype_size(const std::string& dtype);
// Returns "2x3", or "" for a scalar.
std::string shape_text(const std::vector<int64_t>& shape);

// Returns the digest of the bytes of the buffer.
std::string digest_of(const Buffer& buffer);

// Returns the state digest (docs/formats.md) of live state, without generator states.
std::string state_digest(const std::vector<Buffer>& buffers);
struct DigestLine {
  std::string name, dtype;
  std::vector<int64_t> shape;
  std::string digest;
};
// Returns the text that the state digest is computed from.
std::string state_lines(std::vector<DigestLine> lines);

// Returns all that a checkpoint of this state holds, generator states included. Throws as State::save().
std::vector<Buffer> live_buffers(State& state, Frontend& frontend);

inline constexpr const char* generator_prefix = "generator.";
// Begins the name of state that may differ between executions, as a time: no state digest has it.
inline constexpr const char* volatile_prefix = "~";

}  // namespace flor::core
