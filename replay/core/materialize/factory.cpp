// Chooses the materializer of a run.
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/messages.h"
#include "core/materialize/materializer.h"

namespace flor::core {
namespace {

bool on_device(const std::vector<Buffer>& live) {
  return std::any_of(live.begin(), live.end(), [](const Buffer& buffer) { return buffer.device; });
}

// A materializer that forks, until it sees state on a device: a forked process must not touch a device, or
// memory that the driver of a device owns. Then `thread` takes its place, with a warning.
class UnlessOnDevice : public Materializer {
 public:
  UnlessOnDevice(std::unique_ptr<Materializer> forking, std::string name, Tiers tiers)
      : name_(std::move(name)), tiers_(std::move(tiers)), chosen_(std::move(forking)) {}

  std::string materialize(MaterializeJob job, const std::vector<Buffer>& live) override {
    if (!replaced_ && on_device(live)) replace();
    return chosen_->materialize(std::move(job), live);
  }
  bool busy() const override { return chosen_->busy(); }
  void drain() override { chosen_->drain(); }
  bool ready(std::size_t bytes, double patience) override { return chosen_->ready(bytes, patience); }
  double take_preparation() override { return chosen_->take_preparation(); }
  void throw_failure() override { chosen_->throw_failure(); }
  bool copies() const override { return chosen_->copies(); }
  std::size_t to_copy(const std::vector<Buffer>& live) const override { return chosen_->to_copy(live); }
  void recheck_trusted(const std::vector<Buffer>& live) override { chosen_->recheck_trusted(live); }
  std::vector<SilentChange> take_silent_changes() override { return chosen_->take_silent_changes(); }
  bool forget(const std::string& file) override { return chosen_->forget(file); }

 private:
  void replace() {
    warn("materializer " + name_ +
         " cannot be used: state lies on a GPU, which a forked process must "
         "not touch; thread is used");
    chosen_->drain();
    chosen_ = make_thread_materializer(tiers_);
    replaced_ = true;
  }

  const std::string name_;
  const Tiers tiers_;
  std::unique_ptr<Materializer> chosen_;
  bool replaced_ = false;
};

}  // namespace

std::unique_ptr<Materializer> make_materializer(const std::string& name, const Tiers& tiers) {
  // `thread` costs training least (bench/README.md, "materialize").
  if (name.empty() || name == "auto" || name == "thread") return make_thread_materializer(tiers);
  if (name == "inline") return make_inline_materializer(tiers);
  if (name == "fork") return std::make_unique<UnlessOnDevice>(make_fork_materializer(tiers), name, tiers);
  if (name == "fork-batch")
    return std::make_unique<UnlessOnDevice>(make_fork_batch_materializer(tiers), name, tiers);
  throw UsageError("materializer '" + name + "' is none of inline, thread, fork, fork-batch, auto");
}

}  // namespace flor::core
