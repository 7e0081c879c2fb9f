// Chooses the materializer of a run.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/messages.h"
#include "core/base/units_text.h"
#include "core/materialize/materializer.h"
#include "core/materialize/memory.h"

namespace flor::core {
namespace {

bool on_device(const std::vector<Buffer>& live) {
  return std::any_of(live.begin(), live.end(), [](const Buffer& buffer) { return buffer.device; });
}

// A materializer that can be replaced by another one before a checkpoint, if the state requires it. Warns
// then.
class Replaceable : public Materializer {
 public:
  Replaceable(std::unique_ptr<Materializer> first, Tiers tiers)
      : tiers_(std::move(tiers)), chosen_(std::move(first)) {}

  std::string materialize(MaterializeJob job, const std::vector<Buffer>& live) override {
    if (!decided_) decide(live);
    return chosen_->materialize(std::move(job), live);
  }
  bool busy() const override { return chosen_->busy(); }
  void drain() override { chosen_->drain(); }
  bool ready(std::size_t bytes, double patience) override { return chosen_->ready(bytes, patience); }
  double take_preparation() override { return chosen_->take_preparation(); }
  std::size_t to_copy(const std::vector<Buffer>& live) const override { return chosen_->to_copy(live); }
  void recheck_trusted(const std::vector<Buffer>& live) override { chosen_->recheck_trusted(live); }
  std::vector<SilentChange> take_silent_changes() override { return chosen_->take_silent_changes(); }
  bool forget(const std::string& file) override { return chosen_->forget(file); }

 protected:
  virtual void decide(const std::vector<Buffer>& live) = 0;
  void replace(std::unique_ptr<Materializer> other, const std::string& why) {
    warn(why);
    chosen_->drain();
    chosen_ = std::move(other);
    decided_ = true;
  }
  bool decided() const { return decided_; }
  const Tiers tiers_;

 private:
  std::unique_ptr<Materializer> chosen_;
  bool decided_ = false;
};

// A forked process must not touch a device, or memory that the driver of a device owns.
class UnlessOnDevice : public Replaceable {
 public:
  UnlessOnDevice(std::unique_ptr<Materializer> forking, std::string name, const Tiers& tiers)
      : Replaceable(std::move(forking), tiers), name_(std::move(name)) {}

 private:
  void decide(const std::vector<Buffer>& live) override {
    if (!on_device(live)) return;
    replace(make_thread_materializer(tiers_),
            "materializer " + name_ +
                " cannot be used: state lies on a GPU, which a forked process must "
                "not touch; thread is used");
  }
  const std::string name_;
};

// `thread` if there is memory for its copy: that costs training least (bench/README.md, "materialize").
// Otherwise `fork`, which needs no copy.
class Auto : public Replaceable {
 public:
  explicit Auto(const Tiers& tiers) : Replaceable(make_thread_materializer(tiers), tiers) {}

  bool ready(std::size_t bytes, double patience) override {
    if (!decided() && !fits(bytes)) return true;  // materialize() finds another way
    return Replaceable::ready(bytes, patience);
  }

 private:
  void decide(const std::vector<Buffer>& live) override {
    const std::size_t copy = to_copy(live);
    if (fits(copy) || on_device(live)) return;
    replace(make_fork_materializer(tiers_), "a copy of the state takes " + bytes_text(copy) + ", and only " +
                                                bytes_text(available_memory()) +
                                                " of memory are left: materializer fork is used");
  }
  // Returns true if there is memory for a copy. The answer stays true, because the thread materializer keeps
  // its memory.
  bool fits(std::size_t copy) {
    if (copy > largest_ && copy <= available_memory() / 2) largest_ = copy;
    return copy <= largest_;
  }
  std::size_t largest_ = 0;
};

}  // namespace

std::unique_ptr<Materializer> make_materializer(const std::string& name, const Tiers& tiers) {
  if (name.empty() || name == "auto") return std::make_unique<Auto>(tiers);
  if (name == "thread") return make_thread_materializer(tiers);
  if (name == "inline") return make_inline_materializer(tiers);
  if (name == "fork") return std::make_unique<UnlessOnDevice>(make_fork_materializer(tiers), name, tiers);
  if (name == "fork-batch")
    return std::make_unique<UnlessOnDevice>(make_fork_batch_materializer(tiers), name, tiers);
  throw UsageError("materializer '" + name + "' is none of inline, thread, fork, fork-batch, auto");
}

}  // namespace flor::core
