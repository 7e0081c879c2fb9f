#include "core/materialize/base.h"

namespace flor::core {
namespace {

class InlineMaterializer : public MaterializerBase {
 public:
  explicit InlineMaterializer(Tiers tiers) : MaterializerBase(std::move(tiers)) {}

  std::string materialize(MaterializeJob job, const std::vector<Buffer>& live) override try {
    const Stopwatch watch;
    auto entries = entries_for(live, job.file);
    stage(entries, live, Copy::device, staging_.require(to_stage(entries, Copy::device)));
    if (job.before) job.before();
    Image image = make_image(tiers_, job, std::move(entries));
    PlainOutput output;
    const Failure failure = write_file(image, output);
    Materialized result;
    if (failure) result.error = failed_with(failure, image);
    result.background = false;
    result.write = watch.elapsed();  // no processor time: all of it is stall already
    settle(job, image, std::move(result));
    staging_.give_back();
    return "";
  } catch (const std::exception& problem) {
    staging_.give_back();
    unchanged_.settled(job.file);
    return problem.what();
  }

  bool copies() const override { return false; }
  bool busy() const override { return false; }
  void drain() override {}

 private:
  Staging staging_;
};

}  // namespace

std::unique_ptr<Materializer> make_inline_materializer(const Tiers& tiers) {
  return std::make_unique<InlineMaterializer>(tiers);
}

}  // namespace flor::core
