// What all materializers share: knowing what did not change, and settling what became of a checkpoint.
#pragma once

#include <string>
#include <vector>

#include "core/materialize/image.h"
#include "core/materialize/materializer.h"
#include "core/materialize/staging.h"
#include "core/materialize/unchanged.h"

namespace flor::core {

// Writes by pwrite() at once. Allocates nothing.
class PlainOutput : public Output {
 public:
  void begin(int fd) noexcept override { fd_ = fd; }
  int write(const void* bytes, std::size_t size, off_t offset) noexcept override;
  int finish() noexcept override { return 0; }

 private:
  int fd_ = -1;
};

// Elapsed and processor time of this thread since it was made. Allocates nothing.
class Stopwatch {
 public:
  Stopwatch();
  double elapsed() const;
  double processor() const;

 private:
  double elapsed_, processor_;
};

// Of the calling thread: what training computes goes first.
void lower_priority();

class MaterializerBase : public Materializer {
 public:
  std::size_t to_copy(const std::vector<Buffer>& live) const override { return unchanged_.to_copy(live); }
  void recheck_trusted(const std::vector<Buffer>& live) override { unchanged_.recheck_trusted(live); }
  std::vector<SilentChange> take_silent_changes() override { return unchanged_.take_silent_changes(); }
  bool forget(const std::string& file) override { return unchanged_.forget(file); }
  bool ready(std::size_t, double) override { return !busy(); }
  double take_preparation() override { return 0; }

 protected:
  explicit MaterializerBase(Tiers tiers) : tiers_(std::move(tiers)) {}

  std::vector<Entry> entries_for(const std::vector<Buffer>& live, const std::string& file);

  // Makes `staging` hold the bytes of own entries, one behind the other as in the file: of all, or only of
  // those that are not in host memory.
  enum class Copy { all, device };
  static std::size_t to_stage(const std::vector<Entry>& entries, Copy which);
  static void stage(std::vector<Entry>& entries, const std::vector<Buffer>& live, Copy which,
                    unsigned char* memory);
  // The same of all, but a device only takes a snapshot where it can. What is returned has to be called, on
  // any thread, before the bytes of these entries are used.
  using Fetches = std::vector<std::function<void()>>;
  static Fetches begin_to_stage(std::vector<Entry>& entries, const std::vector<Buffer>& live,
                                unsigned char* memory);

  // What was durably written is known from now on; tells `done`.
  void settle(const MaterializeJob& job, const Image& image, Materialized result);

  Tiers tiers_;  // used by one thread at a time: whoever makes images, and settles what became of them
  Unchanged unchanged_;
};

}  // namespace flor::core
