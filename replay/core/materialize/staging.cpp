#include "core/materialize/staging.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "core/materialize/memory_watch.h"

namespace flor::core {

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;

Staging::~Staging() {
  release();
}

unsigned char* Staging::require(std::size_t bytes) {
  unsigned char* memory = map(bytes);
  if (bytes > copy_) MemoryWatch::here().copy_begins(bytes - copy_);
  copy_ = std::max(copy_, bytes);
  return memory;
}

unsigned char* Staging::map(std::size_t bytes) {
  if (bytes > size_ || memory_ == nullptr) {
    // Huge pages need a multiple of their size; the kernel aligns large mappings by itself.
    const std::size_t unit = bytes >= huge_page ? huge_page : page;
    const std::size_t size = (bytes + unit - 1) / unit * unit + (bytes == 0 ? unit : 0);
    MemoryWatch::here().maps(size_, size);
    void* memory = memory_ == nullptr
                       ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                       : ::mremap(memory_, size_, size, MREMAP_MAYMOVE);
    if (memory == MAP_FAILED) {
      MemoryWatch::here().maps(size, size_);
      throw std::bad_alloc();
    }
    ::madvise(memory, size, MADV_HUGEPAGE);
    if (in_children_ == InChildren::missing) ::madvise(memory, size, MADV_DONTFORK);
    memory_ = memory;
    size_ = size;
  }
  return data();
}

void Staging::touch(std::size_t from, std::size_t bytes) {
  volatile unsigned char* memory = data();
  const std::size_t end = std::min(from + bytes, size_);
  for (std::size_t at = from; at < end; at += page) memory[at] = 0;
  // The kernel would split a huge page that is given back in part. It goes with the pages behind it.
  const auto base = reinterpret_cast<std::uintptr_t>(memory_);
  const auto whole = [&](std::size_t at) {
    return at == size_ ? at : std::max(base, (base + at) / huge_page * huge_page) - base;
  };
  give_back(whole(from), whole(end), true);
}

void Staging::give_back() noexcept {
  give_back(0, size_, MemoryWatch::here().is_plentiful(size_));
  end_copy();
}

void Staging::give_back(std::size_t from, std::size_t to, bool keep) noexcept {
  if (from >= to) return;
  // The kernel refuses it for memory that the program has locked (mlockall()). That must not stay either.
  if (::madvise(data() + from, to - from, keep ? MADV_FREE : MADV_DONTNEED) != 0) release();
}

void Staging::end_copy() noexcept {
  if (copy_ > 0) MemoryWatch::here().copy_ends(copy_);
  copy_ = 0;
}

void Staging::release() {
  if (memory_ != nullptr) {
    ::munmap(memory_, size_);
    MemoryWatch::here().maps(size_, 0);
  }
  memory_ = nullptr;
  size_ = 0;
  end_copy();
}

}  // namespace flor::core
