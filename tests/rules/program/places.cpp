// Scenarios in which the shape of the program matters.
#include <optional>

#include "scenarios.h"

namespace rules {
namespace {

void evaluate(Model& model, const std::string& name) {
  if (SkipBlock block{"eval", {model.weights, model.velocity, model.steps}}; block.step_into()) {
    model.step();
    log(name, model.loss());
    inner_probe(model);
  }
}

// One outermost loop of `several`. The time it takes decides which one is the main loop.
void outermost(const std::string& name, int64_t iterations, int64_t milliseconds, Model& model) {
  for (Loop loop{name, 0, iterations}; loop.next();) {
    if (SkipBlock block{"train", model.trained()}; block.step_into()) {
      trace(name + " " + std::to_string(*loop));
      model.step();
      sleep_ms(milliseconds);
      log("loss", model.loss());
      inner_probe(model);
    }
    model.weights[1] += 0.01 * uniform();
    log("accuracy", model.loss());
    outer_probe(model);
  }
}

}  // namespace

int places() {
  Model model;
  std::optional<Guard> guard;
  if (flag("guard")) guard.emplace(model.all());
  for (Loop epoch{"epoch", 0, 5}; epoch.next();) {
    if (*epoch % 2 == 1) {
      if (SkipBlock odd{"odd", model.trained()}; odd.step_into()) {
        model.step();
        log("odd_loss", model.loss());
        inner_probe(model);
      }
    }
    if (SkipBlock block{"train", model.trained()}; block.step_into()) {
      for (Loop batch{"batch", 0, 2}; batch.next();) {
        if (SkipBlock inner{"part", {model.weights, model.velocity, model.steps}}; inner.step_into()) {
          model.step();
          log("loss", model.loss());
          inner_probe(model);
        }
        model.weights[2] += 0.001 * uniform();
        log("batch_loss", model.loss());
      }
    }
    for (Loop pass{"pass", 0, 3}; pass.next();) {
      if (*pass != 1 || *epoch % 2 == 0) evaluate(model, "score");
      model.weights[3] *= 1.001;
      outer_probe(model);
    }
    for (Loop pass{"pass", 0, 2}; pass.next();) evaluate(model, "second_score");
    for (int i = 0; i < 2; ++i) evaluate(model, "third_score");
    model.rate *= 0.95;
    log("accuracy", model.loss());
    outer_probe(model);
  }
  return 0;
}

int several() {
  Model model;
  log("begin", model.loss());
  std::optional<Guard> around;
  if (flag("guard")) around.emplace(model.all());
  outermost("warmup", 3, 0, model);
  log("between", model.loss());
  outermost("epoch", 5, 5, model);
  log("behind", model.loss());
  outermost("warmup", 2, 0, model);
  outermost("epoch", 2, 0, model);
  log("end", model.loss() + uniform());
  return 0;
}

int outside() {
  Model model;
  auto block = [&](const char* name) {
    if (SkipBlock block{name, model.trained()}; block.step_into()) {
      trace(name);
      model.step();
      log(std::string(name) + "_loss", model.loss());
      inner_probe(model);
    }
  };
  block("setup");
  block("setup");
  std::optional<Guard> guard;
  if (flag("guard")) guard.emplace(model.all());
  outermost("epoch", 4, 0, model);
  block("final");
  log("end", model.loss() + uniform());
  return 0;
}

}  // namespace rules
