// The base of all materializers: finds tensors that did not change, copies the others, and reports the result
// of a checkpoint.
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "core/materialize/image.h"
#include "core/materialize/materializer.h"
#include "core/materialize/staging.h"
#include "core/materialize/unchanged.h"

namespace flor::core {

// Writes with pwrite(), at once. Allocates nothing.
class PlainOutput : public Output {
 public:
  void begin(int fd) noexcept override { fd_ = fd; }
  int write(const void* bytes, std::size_t size, off_t offset) noexcept override;
  int finish() noexcept override { return 0; }

 private:
  int fd_ = -1;
};

// Measures elapsed time and processor time of this thread since construction. Allocates nothing.
class Stopwatch {
 public:
  Stopwatch();
  double elapsed() const;
  double processor() const;

 private:
  double elapsed_, processor_;
};

// Lowers the priority of the calling thread, so that the training threads run first.
void lower_priority();

class MaterializerBase : public Materializer {
 public:
  std::size_t to_copy(const std::vector<Buffer>& live) const override { return unchanged_.to_copy(live); }
  void recheck_trusted(const std::vector<Buffer>& live) override { unchanged_.recheck_trusted(live); }
  std::vector<SilentChange> take_silent_changes() override { return unchanged_.take_silent_changes(); }
  bool forget(const std::string& file) override { return unchanged_.forget(file); }
  bool ready(std::size_t, double) override { return !busy(); }
  double take_preparation() override { return 0; }
  void throw_failure() override;

 protected:
  explicit MaterializerBase(Tiers tiers);

  // Makes the entries of the checkpoint file `file`, with references to bytes that earlier files hold.
  std::vector<Entry> entries_for(const std::vector<Buffer>& live, const std::string& file);

  // Copies the bytes of own entries into `memory`, in the order of the file: of all own entries, or only of
  // those that are not in host memory. to_stage() returns how many bytes of memory this needs.
  enum class Copy { all, device };
  static std::size_t to_stage(const std::vector<Entry>& entries, Copy which);
  static void stage(std::vector<Entry>& entries, const std::vector<Buffer>& live, Copy which,
                    unsigned char* memory);
  // As stage() for all entries, but a device only takes a snapshot if it can. Callers run the returned
  // functions, on any thread, before they use the bytes of these entries.
  using Fetches = std::vector<std::function<void()>>;
  static Fetches begin_to_stage(std::vector<Entry>& entries, const std::vector<Buffer>& live,
                                unsigned char* memory);

  // Runs a part of a thread's work. Keeps for throw_failure() what it throws, which would end the program.
  void keep_failure(const std::function<void()>& work) noexcept;

  // Keeps why an image was not written. Returns it in words.
  static std::string failed_with(const Failure& failure, Image& image);
  // Remembers what was durably written, for later references, and calls `done`.
  void settle(const MaterializeJob& job, const Image& image, Materialized result);

  // Only one thread at a time may use it: the one that makes images, or the one that settles.
  Tiers tiers_;
  Unchanged unchanged_;

 private:
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

}  // namespace flor::core
