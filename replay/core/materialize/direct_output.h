// Writes large files past the page cache (O_DIRECT), for the thread materializer, where that is measured to
// be faster than through it. Writes small files and unaligned parts plainly. Motivation: past the cache a
// write takes a third to two thirds of the time and a tenth of the processor time (docs/performance.md).
// Calls are large, so that the kernel keeps the medium busy: io_uring and threads that kept several writes in
// flight won nothing beside that.
//
// Only one thread at a time may use it. Memory given to write() must not change until finish().
#pragma once

#include <array>
#include <cstddef>

#include "core/materialize/image.h"

namespace flor::core {

class DirectOutput : public Output {
 public:
  // What is shorter than a block, or not a whole number of them, is written plainly.
  static constexpr std::size_t block = std::size_t{1} << 20;
  // The most that one call writes.
  static constexpr std::size_t most = std::size_t{16} << 20;

  void begin(int fd) noexcept override;
  int write(const void* bytes, std::size_t size, off_t offset) noexcept override;
  int finish() noexcept override;

  // Reports how long the last file took to become durable. This chooses between direct and cached writes.
  void took(double seconds);
  // Returns how the last file was written: "plain", "cached" or "direct"; "plain" where it had no whole
  // block.
  const char* engine() const;

 private:
  enum Way : std::size_t { direct = 0, cached = 1 };
  int send(std::size_t size) noexcept;
  int send_rest() noexcept;
  int leave_direct() noexcept;
  bool set_direct(bool on) noexcept;
  Way choose() const;

  int fd_ = -1;
  // A contiguous part that is not written yet.
  const char* pending_ = nullptr;
  std::size_t pending_size_ = 0;
  off_t pending_offset_ = 0;
  // Bytes of this file that were written in whole blocks.
  std::size_t sent_ = 0;
  // The file is in direct mode now.
  bool is_direct_ = false;
  // The blocks of the file were written in direct mode.
  bool was_direct_ = false;
  // The file system has no direct mode, or has other demands on it.
  bool no_direct_ = false;
  std::array<double, 2> per_byte_{-1, -1};
  // Files with whole blocks.
  int files_ = 0;
};

}  // namespace flor::core
