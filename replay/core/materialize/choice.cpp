// Which materializer takes the checkpoints of a run.
#include <algorithm>

#include "core/error.h"
#include "core/materialize/materializer.h"
#include "core/session.h"

namespace flor::core {
namespace {

bool on_device(const std::vector<Buffer>& live) {
  return std::any_of(live.begin(), live.end(), [](const Buffer& buffer) { return buffer.device; });
}

// A forked process must not touch a device, nor memory that a device's driver owns: with state there, a
// thread does the work, and that is said once.
class UnlessOnDevice : public Materializer {
 public:
  UnlessOnDevice(std::unique_ptr<Materializer> forking, std::string name, RunDir run)
      : chosen_(std::move(forking)), name_(std::move(name)), run_(std::move(run)) {}

  std::string materialize(MaterializeJob job, const std::vector<Buffer>& live) override {
    if (!replaced_ && on_device(live)) {
      warn(
          "state lies on a GPU, which a forked process must not touch: materializer thread is used instead "
          "of " +
          name_);
      chosen_->drain();
      chosen_ = make_thread_materializer(run_);
      replaced_ = true;
    }
    return chosen_->materialize(std::move(job), live);
  }
  bool busy() const override { return chosen_->busy(); }
  bool full() const override { return chosen_->full(); }
  void drain() override { chosen_->drain(); }
  std::size_t to_copy(const std::vector<Buffer>& live) const override { return chosen_->to_copy(live); }
  std::vector<SilentChange> take_silent_changes() override { return chosen_->take_silent_changes(); }
  std::set<std::string> homes() const override { return chosen_->homes(); }

 private:
  std::unique_ptr<Materializer> chosen_;
  const std::string name_;
  const RunDir run_;
  bool replaced_ = false;
};

}  // namespace

std::unique_ptr<Materializer> make_materializer(const std::string& name, const RunDir& run) {
  if (name.empty() || name == "auto" || name == "thread") return make_thread_materializer(run);
  if (name == "inline") return make_inline_materializer(run);
  if (name == "fork") return std::make_unique<UnlessOnDevice>(make_fork_materializer(run), name, run);
  if (name == "fork-batch")
    return std::make_unique<UnlessOnDevice>(make_fork_batch_materializer(run), name, run);
  throw UsageError("materializer '" + name + "' is none of inline, thread, fork, fork-batch, auto");
}

}  // namespace flor::core
