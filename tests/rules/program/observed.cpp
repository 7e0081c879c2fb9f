// Rows whose values are computed in the background, between others.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "scenarios.h"

namespace rules {
namespace {

// The memory is used again at once, as a training step uses that of its gradients.
void observe_and_spoil(std::vector<double> values, const std::string& name) {
  log_histogram(name, values);
  log_whole(name + "_whole", values);
  log_image(name + "_image", values);
  std::fill(values.begin(), values.end(), -1.0);
}

// A file takes the place of the directory in which the run's tensors lie: none can be written from now on.
void take_the_place_of_tensors() {
  for (const auto& run : std::filesystem::directory_iterator(std::getenv("FLOR_STORE"))) {
    if (run.path().filename().string().front() == '.') continue;
    const auto place = run.path() / "tensors";
    std::error_code ignored;
    while (!std::filesystem::is_regular_file(place, ignored)) {
      std::filesystem::remove_all(place, ignored);  // again, where the library was faster
      std::ofstream(place) << "in the way";
    }
  }
}

}  // namespace

int observed() {
  Model model;
  observe_and_spoil(model.weights, "first");  // in front of the loop: nobody knows yet where the run lies
  std::optional<Guard> guard;
  if (flag("guard")) guard.emplace(model.all());
  for (Loop epoch{"epoch", 0, 4}; epoch.next();) {
    if (SkipBlock block{"train", model.trained()}; block.step_into()) {
      for (Loop step{"step", 0, 3}; step.next();) {
        model.step();
        observe_and_spoil(model.velocity, "velocity");
        log("loss", model.loss());
        std::vector<double> large(200000, model.loss());  // later than the row behind it
        log_histogram("large", large);
        std::fill(large.begin(), large.end(), 0.0);
      }
    }
    if (flag("spoil") && *epoch == 1) take_the_place_of_tensors();
    if (flag("outer")) log_histogram("outer", model.weights);
    log("accuracy", model.loss());
    // The row is not yet computed: the end of the process waits for it.
    if (*epoch == 3) observe_and_spoil(model.weights, "last");
  }
  return 0;
}

}  // namespace rules
