// Host memory that is mapped once and reused. Page faults of fresh memory cost more than the copy into it
// (1.1 GB: 80 ms warm, 190 ms cold with huge pages, 3.2 s cold with small pages).
#pragma once

#include <cstddef>

namespace flor::core {

// Does a forked child get the memory? A loader's worker would keep the pages of a copy as long as it lives.
enum class InChildren { missing, kept };

class Staging {
 public:
  explicit Staging(InChildren in_children = InChildren::missing) : in_children_(in_children) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Returns memory of at least `bytes` bytes for a copy, page-aligned; much of it in huge pages. The object
  // owns it. If it grows, it may move, with the copy that is in it. Throws std::bad_alloc.
  unsigned char* require(std::size_t bytes);
  // The same before there is a copy: it does not count as one (MemoryWatch). For touch().
  unsigned char* map(std::size_t bytes);
  // Touches the pages in [from, from + bytes), so that the kernel maps them now, and gives them back.
  void touch(std::size_t from, std::size_t bytes);
  // Ends the use of what the memory holds. Where memory is plentiful (MemoryWatch) the pages stay and cost no
  // fault when they are used again, but the kernel takes them before it kills a process for want of memory:
  // training may need them at its peak. Elsewhere they go at once. No other thread or process may still read
  // them.
  void give_back() noexcept;
  unsigned char* data() const { return static_cast<unsigned char*>(memory_); }
  std::size_t size() const { return size_; }
  void release();

 private:
  void give_back(std::size_t from, std::size_t to, bool keep) noexcept;
  void end_copy() noexcept;

  const InChildren in_children_;
  void* memory_ = nullptr;
  std::size_t size_ = 0;
  std::size_t copy_ = 0;  // bytes of the copy that is in it
};

}  // namespace flor::core
