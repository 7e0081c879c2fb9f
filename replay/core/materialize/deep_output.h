// Writes large files at the speed of the medium: several aligned blocks in flight, by io_uring where the
// kernel has it, else by threads; past the page cache (O_DIRECT) where that measures better. Small files and
// what is not aligned are written plainly.
//
// One thread at a time. What write() was given stays as it is until finish().
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "core/materialize/image.h"
#include "core/materialize/write_queue.h"

namespace flor::core {

class DeepOutput : public Output {
 public:
  static constexpr std::size_t block = std::size_t{1} << 20;
  static constexpr unsigned depth = 8;

  void begin(int fd) noexcept override;
  int write(const void* bytes, std::size_t size, off_t offset) noexcept override;
  int finish() noexcept override;

  // The last file took so long to be durable: what chooses between direct and cached writes.
  void took(double seconds);
  const char* engine() const;  // of the last file: "plain", "io_uring", "io_uring, direct", …

 private:
  enum Way : std::size_t { direct = 0, cached = 1 };
  int send(const char* bytes, std::size_t size, off_t offset);
  int send_rest();
  bool set_direct(bool on) noexcept;
  Way choose() const;

  std::unique_ptr<WriteQueue> queue_;
  int fd_ = -1;
  const char* pending_ = nullptr;  // a contiguous part that is not yet sent
  std::size_t pending_size_ = 0;
  off_t pending_offset_ = 0;
  std::size_t sent_ = 0;     // of this file, through the queue
  bool is_direct_ = false;   // the file is in this mode now
  bool was_direct_ = false;  // its blocks were sent so
  bool no_direct_ = false;   // the file system has no such mode
  std::array<double, 2> per_byte_{-1, -1};
  int files_ = 0;  // that went through the queue
};

}  // namespace flor::core
