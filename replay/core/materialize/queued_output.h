// Writes large files at the speed of the medium, for the thread materializer. Keeps several aligned blocks in
// flight, by io_uring if the kernel has it, else by threads. Bypasses the page cache (O_DIRECT) if that is
// measured to be faster. Writes small files and unaligned parts plainly.
//
// Only one thread at a time may use it. Memory given to write() must not change until finish().
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "core/materialize/image.h"
#include "core/materialize/write_queue.h"

namespace flor::core {

class QueuedOutput : public Output {
 public:
  static constexpr std::size_t block = std::size_t{1} << 20;
  static constexpr unsigned depth = 8;

  void begin(int fd) noexcept override;
  int write(const void* bytes, std::size_t size, off_t offset) noexcept override;
  int finish() noexcept override;

  // Reports how long the last file took to become durable. This chooses between direct and cached writes.
  void took(double seconds);
  // Returns how the last file was written: "plain", "io_uring", "io_uring, direct", …
  const char* engine() const;

 private:
  enum Way : std::size_t { direct = 0, cached = 1 };
  int send(const char* bytes, std::size_t size, off_t offset);
  int send_rest();
  bool set_direct(bool on) noexcept;
  Way choose() const;

  std::unique_ptr<WriteQueue> queue_;
  int fd_ = -1;
  // A contiguous part that is not sent yet.
  const char* pending_ = nullptr;
  std::size_t pending_size_ = 0;
  off_t pending_offset_ = 0;
  // Bytes of this file that went through the queue.
  std::size_t sent_ = 0;
  // The file is in direct mode now.
  bool is_direct_ = false;
  // The blocks of the file were sent in direct mode.
  bool was_direct_ = false;
  // The file system has no direct mode.
  bool no_direct_ = false;
  std::array<double, 2> per_byte_{-1, -1};
  // Files that went through the queue.
  int files_ = 0;
};

}  // namespace flor::core
