// Scenarios with one ordinary main loop.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "scenarios.h"

namespace rules {

void crash(int64_t epoch) {
  if (epoch != number("crash", -1) || !replaying() || std::filesystem::exists(text("unless"))) return;
  std::fputs("the data of this epoch cannot be read\n", stderr);
  std::abort();
}

// --throw=E --unless=FILE: training fails in iteration E, until FILE is there.
static void fail(int64_t epoch) {
  if (epoch != number("throw", -1) || std::filesystem::exists(text("unless"))) return;
  throw std::runtime_error("the data of this epoch cannot be read");
}

// --close=E: from iteration E on the program has no standard streams.
static void close_streams(int64_t epoch) {
  if (epoch != number("close", -1)) return;
  std::fflush(stdout);
  for (int fd = 0; fd < 3; ++fd) ::close(fd);
}

// RULES_NAME in the environment: what a requeued job finds changed, its command line being the same.
static int64_t found(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

static int train_once() {
  Model model;
  trace("before");
  const double begin = model.loss() + uniform();
  if (!flag("quiet")) log("begin", begin);
  std::optional<Guard> guard;
  Refs all = model.all();
  if (found("RULES_TIED", 0) != 0) all[1] = all[0];
  if (flag("guard")) guard.emplace(all);
  for (Loop epoch{"epoch", 0, found("RULES_EPOCHS", number("epochs", 6))}; epoch.next();) {
    if (SkipBlock block{"train", model.trained()}; block.step_into()) {
      trace("train " + std::to_string(*epoch));
      if (flag("child") && *epoch == 0) leave_child();
      if (number("hold-step", -1) < 0) hold(*epoch);
      crash(*epoch);
      fail(*epoch);
      close_streams(*epoch);
      // --inside: between two steps there may be a checkpoint, too.
      double total = 0;
      int64_t ran = 0;
      std::optional<Guard> inside;
      if (flag("inside")) {
        Refs state = model.all();
        if (!flag("forget-total")) state.emplace_back(total);
        if (flag("strict")) state.emplace_back(ran);
        inside.emplace(state);
        log("rate", model.rate);
      }
      for (Loop step{"step", 0, number("steps", 3)}; step.next();) {
        if (inside) trace("step " + std::to_string(*epoch) + " " + std::to_string(*step));
        if (*step == found("RULES_HOLD_STEP", number("hold-step", -1))) hold(*epoch);
        model.step();
        total += model.loss();
        ++ran;
        if (*epoch == number("perturb-step", -1) && *step == 1 && replaying()) model.weights[0] += 1e-9;
        if (!flag("quiet")) log("loss", model.loss());
        inner_probe(model);
        sleep_ms(number("sleep", 0));
      }
      // --strict: what stands behind the steps relies on all of them.
      if (flag("strict") && ran != number("steps", 3))
        throw std::logic_error("an epoch without all of its steps");
      if (inside) log("total", total);
      inside.reset();
      if (*epoch == number("perturb", -1) && replaying()) model.weights[0] += 1e-9;
    }
    // Depends on the state of the generator behind the block, whether it was executed or skipped.
    model.weights[0] += 0.01 * uniform();
    model.rate *= 0.9;
    if (!flag("quiet")) log("accuracy", model.loss() * model.rate);
    if (flag("clock")) log("seconds", number("clock", 0) + (replaying() ? 0.5 : 0), flag("volatile"));
    outer_probe(model);
    if (*epoch == number("change", -1) && replaying()) log("accuracy", 0);
  }
  if (flag("tune")) {
    for (Loop round{"round", 0, found("RULES_ROUNDS", 4)}; round.next();) {
      if (SkipBlock block{"tune", model.trained()}; block.step_into()) {
        model.step();
        hold(100 + *round);
      }
      log("tuned", model.loss());
    }
  }
  trace("behind");
  if (!flag("quiet")) log("end", model.loss() + uniform());
  return 0;
}

int train() {
  try {
    return train_once();
  } catch (const std::runtime_error&) {
    log("failed", 1);
    return 1;
  }
}

int forget() {
  Model model;
  double drift = 0;  // carried from one iteration to the next
  const Guard guard(flag("remember") ? Refs{model.weights, model.velocity, model.rate, model.steps, drift}
                                     : Refs{model.weights, model.velocity, model.rate, model.steps});
  for (Loop epoch{"epoch", 0, 6}; epoch.next();) {
    if (SkipBlock block{"train", model.trained()}; block.step_into()) {
      model.step();
      log("loss", model.loss());
      if (flag("inside")) drift += 0.1 * model.loss();
    }
    if (!flag("inside")) drift += 0.1 * model.loss();
    log("accuracy", model.loss() + drift);
    outer_probe(model);
  }
  return 0;
}

// A random walk outside of all blocks. Only the outer probe shows it.
int walk() {
  Model model;
  double place = 0;
  for (Loop epoch{"epoch", 0, 24}; epoch.next();) {
    place += uniform();
    if (SkipBlock block{"train", model.trained()}; block.step_into()) model.weights[0] += 1;
    log("weight", model.weights[0]);
    if (flag("outer")) log("outer", place);
    if (flag("draw") && *epoch % 10 == 5) log("draw", uniform());
  }
  return 0;
}

// --best=MODE: what is carried shows in some epochs only. `once`: in epoch 2; `next`: in epoch 3, where epoch
// 2 ran in another process; `never`: each epoch is the best so far.
int best() {
  constexpr double scores[] = {5, 1, 2, 0.5, 0.7, 0.3};
  Model model;
  double best = 100;
  double previous = 0;
  Refs state{model.weights, model.velocity, model.rate, model.steps};
  if (flag("remember")) {
    state.emplace_back(best);
    state.emplace_back(previous);
  }
  const Guard guard(state);
  for (Loop epoch{"epoch", 0, 6}; epoch.next();) {
    if (SkipBlock block{"train", model.trained()}; block.step_into()) {
      model.step();
      log("loss", model.loss());
    }
    const double falling = 10 - static_cast<double>(*epoch);
    const double score = text("best") == "never" ? falling : scores[*epoch];
    if (text("best") != "next" && score < best) log("best", best = score);
    if (text("best") == "next" && *epoch == 3) log("drift", score - previous);
    previous = score;
    outer_probe(model);
  }
  return 0;
}

int growing() {
  Model model;
  std::vector<double> history;
  std::optional<Guard> guard;
  if (flag("guard")) guard.emplace(Refs{model.weights, model.velocity, model.steps, history});
  for (Loop epoch{"epoch", 0, 6}; epoch.next();) {
    if (SkipBlock block{"train", {model.weights, model.velocity, model.steps, history}}; block.step_into()) {
      model.step();
      std::vector<double> next = history;
      next.push_back(model.loss());
      history = next;  // other memory, another length
      log("loss", model.loss());
    }
    double sum = 0;
    for (double each : history) sum += each;
    log("history", sum / static_cast<double>(history.size()));
    outer_probe(model);
  }
  return 0;
}

int guards() {
  Model model;
  double drift = 0;
  const Guard first(Refs{drift});
  const Guard second(model.all());
  for (Loop epoch{"epoch", 0, 6}; epoch.next();) {
    if (SkipBlock block{"train", model.trained()}; block.step_into()) {
      model.step();
      log("loss", model.loss());
    }
    drift += 0.1 * model.loss();
    log("accuracy", model.loss() + drift);
    outer_probe(model);
  }
  return 0;
}

int container() {
  Model model;
  std::vector<double> items = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
  items.resize(static_cast<std::size_t>(number("items", 6)), 0.7);
  std::optional<Guard> guard;
  if (flag("guard")) guard.emplace(model.all());
  Loop epoch = Loop::over("epoch", static_cast<int64_t>(items.size()));
  // With --unreadable FILE: in a replay, the items cannot be read while FILE is there.
  if (replaying() && std::filesystem::exists(text("unreadable"))) return 4;
  while (epoch.next()) {
    if (SkipBlock block{"train", model.trained()}; block.step_into()) {
      trace("train " + std::to_string(*epoch));
      hold(*epoch);
      model.step();
      log("loss", model.loss());
      inner_probe(model);
    }
    model.weights[0] += items[static_cast<std::size_t>(*epoch)] * uniform();
    log("accuracy", model.loss());
    outer_probe(model);
  }
  return 0;
}

}  // namespace rules
