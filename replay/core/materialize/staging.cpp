#include "core/materialize/staging.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "core/materialize/memory_watch.h"

namespace flor::core {

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;
// Bytes, from which on the memory is made of huge pages. Where a virtual machine keeps page tables of its
// own, the first write to each page that was given back costs as much as a fault: 3.6 MB in small pages
// took 8.6 ms there and 0.3 ms in huge ones.
constexpr std::size_t worth_huge_pages = huge_page / 4;

namespace {

// Maps `size` bytes that begin at a multiple of `unit`, a multiple of the page size. Returns MAP_FAILED where
// there is no room. Older kernels align no memory for huge pages by themselves.
void* map_whole_pages(std::size_t size, std::size_t unit) {
  const auto map = [](std::size_t bytes) {
    return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  };
  const auto before_unit = [unit](void* memory) {
    return (unit - reinterpret_cast<std::uintptr_t>(memory) % unit) % unit;
  };
  void* memory = map(size);
  if (memory != MAP_FAILED && before_unit(memory) > 0) {
    ::munmap(memory, size);
    memory = map(size + unit);
    if (memory == MAP_FAILED) return memory;
    const std::size_t head = before_unit(memory);
    auto* begin = static_cast<unsigned char*>(memory) + head;
    if (head > 0) ::munmap(memory, head);
    ::munmap(begin + size, unit - head);
    memory = begin;
  }
  if (memory != MAP_FAILED) ::madvise(memory, size, MADV_HUGEPAGE);
  return memory;
}

}  // namespace

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
    const std::size_t unit = bytes >= worth_huge_pages ? huge_page : page;
    const std::size_t size = (bytes + unit - 1) / unit * unit + (bytes == 0 ? unit : 0);
    if (copy_ == 0) release();  // moved along, small pages would stay small
    MemoryWatch::here().maps(size_, size);
    void* memory = map_whole_pages(size, unit);
    const bool moves = memory != MAP_FAILED && memory_ != nullptr;
    if (memory == MAP_FAILED ||
        (moves && ::mremap(memory_, size_, size_, MREMAP_MAYMOVE | MREMAP_FIXED, memory) == MAP_FAILED)) {
      if (moves) ::munmap(memory, size);
      MemoryWatch::here().maps(size, size_);
      throw std::bad_alloc();
    }
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
