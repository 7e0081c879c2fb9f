// Copies GPU memory for a checkpoint. Where the device has room, training waits only for a copy on the device
// itself (about half a millisecond for a gigabyte on an H200), and a separate stream drains that copy while
// training goes on. Else training waits for the copy to the host.
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

#include "core/base/error.h"
#include "core/materialize/snapshot_room.h"
#include "torch/device.h"

namespace flor::detail {
namespace {

// Lets this thread call CUDA while another one captures a graph. During a capture CUDA refuses some calls of
// every thread, such as those that take pinned memory or wait. A refused call breaks the capture, which ends
// the training program. The calls made here cannot affect a capture.
class BesideCaptures {
 public:
  BesideCaptures() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~BesideCaptures() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  BesideCaptures(const BesideCaptures&) = delete;
  BesideCaptures& operator=(const BesideCaptures&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // the one to set, then the one before
};

// Size of a piece of pinned memory. One is filled while the other is emptied.
constexpr int64_t piece = int64_t{32} << 20;
// Bytes in copies of snapshots that are not drained yet, by device.
constexpr std::size_t most_devices = 64;
std::array<std::atomic<std::size_t>, most_devices> copied{};

// Queued after the work of the current stream. The driver copies into unpinned memory at a third of the
// speed, so two pinned pieces take turns.
void drain(const at::Tensor& contiguous, void* to_memory) {
  if (contiguous.numel() == 0) return;
  const at::Tensor bytes = contiguous.flatten().view(at::kByte);
  const int64_t size = bytes.numel();
  auto* destination = static_cast<unsigned char*>(to_memory);
  const auto pinned = at::TensorOptions().dtype(at::kByte).pinned_memory(true);
  at::Tensor landing[2];
  at::cuda::CUDAEvent landed[2];
  const auto take_away = [&](int64_t index) {
    const int64_t begin = index * piece;
    landed[index % 2].synchronize();
    std::memcpy(destination + begin, landing[index % 2].data_ptr(),
                static_cast<std::size_t>(std::min(piece, size - begin)));
  };
  const int64_t pieces = (size + piece - 1) / piece;
  for (int64_t index = 0; index < pieces; ++index) {
    const int64_t begin = index * piece;
    const int64_t length = std::min(piece, size - begin);
    at::Tensor& to = landing[index % 2];
    if (!to.defined()) to = at::empty({length}, pinned);
    to.narrow(0, 0, length).copy_(bytes.narrow(0, begin, length), true);
    landed[index % 2].record();
    if (index > 0) take_away(index - 1);
  }
  take_away(pieces - 1);
}

// CUDA keeps its last error until it is asked for: LibTorch would find it behind the program's next kernel.
void forget_error() {
  static_cast<void>(cudaGetLastError());
}

// Returns the stream that drains snapshots of this device, which must be the current one. It is not from
// LibTorch's pool: the program may capture a graph on a stream of that, and a wait for an event of another
// stream would break the capture. Made on the first call, which must come from a thread that captures
// nothing; then kept. std::nullopt: there is none.
std::optional<c10::cuda::CUDAStream> side_stream(c10::DeviceIndex device) {
  static std::mutex mutex;
  static std::array<cudaStream_t, most_devices> streams{};
  const std::lock_guard<std::mutex> lock(mutex);
  cudaStream_t& stream = streams[static_cast<std::size_t>(device)];
  if (stream == nullptr && cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) {
    forget_error();
    return std::nullopt;
  }
  return c10::cuda::getStreamFromExternal(stream, device);
}

bool has_room(c10::DeviceIndex device, std::size_t bytes) {
  core::DeviceMemory memory;
  std::size_t total = 0;
  if (cudaMemGetInfo(&memory.free, &total) != cudaSuccess) {
    forget_error();
    return false;
  }
  // Throws where a program has put in an allocator of its own that keeps no books.
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device);
  memory.reserved = static_cast<std::size_t>(stats.reserved_bytes.front().current);  // front: of all kinds
  memory.allocated = static_cast<std::size_t>(stats.allocated_bytes.front().current);
  memory.peak = static_cast<std::size_t>(stats.allocated_bytes.front().peak);
  memory.copies = copied[static_cast<std::size_t>(device)];
  return core::has_room_for_copy(memory, bytes);
}

// A tensor's copy on its device, counted as long as it lives.
class DeviceCopy {
 public:
  explicit DeviceCopy(const at::Tensor& tensor)
      : tensor_(tensor.clone(at::MemoryFormat::Contiguous)), bytes_(tensor_.nbytes()) {
    count() += bytes_;
  }
  ~DeviceCopy() { count() -= bytes_; }
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;

  const at::Tensor& tensor() const { return tensor_; }

 private:
  std::atomic<std::size_t>& count() const { return copied[static_cast<std::size_t>(tensor_.get_device())]; }

  const at::Tensor tensor_;
  const std::size_t bytes_;
};

}  // namespace

void copy_to_host(const at::Tensor& tensor, void* destination) {
  const at::NoGradGuard no_grad;
  const c10::cuda::CUDAGuard device(tensor.device());
  drain(tensor.contiguous(), destination);
}

std::optional<core::Snapshot> snapshot_of(const at::Tensor& tensor) {
  const at::NoGradGuard no_grad;
  const c10::cuda::CUDAGuard device(tensor.device());
  const auto index = static_cast<c10::DeviceIndex>(tensor.get_device());
  std::shared_ptr<const DeviceCopy> copy;
  std::optional<c10::cuda::CUDAStream> side;
  try {
    if (static_cast<std::size_t>(index) >= most_devices || !has_room(index, tensor.nbytes()))
      return std::nullopt;
    side = side_stream(index);
    if (!side) return std::nullopt;
    copy = std::make_shared<const DeviceCopy>(tensor);
  } catch (const c10::Error&) {  // out of memory after all, or nothing is known of it
    return std::nullopt;
  }
  auto taken = std::make_shared<at::cuda::CUDAEvent>();
  taken->record();
  core::Snapshot snapshot;
  snapshot.wait = [taken] { taken->synchronize(); };
  snapshot.fetch = [copy, taken, side = *side](void* destination) {
    const BesideCaptures beside_captures;
    const at::NoGradGuard without_gradients;
    const c10::cuda::CUDAStreamGuard stream(side);
    taken->block(side);
    drain(copy->tensor(), destination);
  };
  return snapshot;
}

}  // namespace flor::detail
