// Probes whose rows rest on what a block leaves beside its arguments.
#include <algorithm>
#include <optional>

#include "scenarios.h"

namespace rules {

int meters() {
  Model model;
  double total = 0, running = 0, best = 1e9;  // the block changes them, and nothing holds them
  std::optional<Guard> guard;
  if (flag("guard")) guard.emplace(model.all());
  for (Loop epoch{"epoch", 0, number("epochs", 6)}; epoch.next();) {
    if (SkipBlock block{"train", model.trained()}; block.step_into()) {
      trace("train " + std::to_string(*epoch));
      hold(*epoch);
      crash(*epoch);
      meet();
      total = 0;
      for (Loop step{"step", 0, 3}; step.next();) {
        model.step();
        total += model.loss();
        running = 0.9 * running + model.loss();
        best = std::min(best, model.loss());
        log("loss", model.loss());
        if (flag("running")) log("running", running);
        inner_probe(model);
      }
    }
    model.weights[0] += 0.01 * uniform();
    log("accuracy", model.loss());
    outer_probe(model);
    if (flag("meter")) log("meter", total);
    if (flag("tenth") && *epoch % 10 == 9) log("tenth", model.norm());
    if (flag("wrong-tenth") && *epoch % 10 == 9) log("wrong", total);
  }
  trace("behind");
  if (flag("best")) log("best", best);
  return 0;
}

}  // namespace rules
