// Scenarios about how loops and processes end, and what a process writes.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "scenarios.h"

namespace rules {
namespace {

// --end: where and how the loop of `endings` is left, in iteration --at. With --recorded only in the
// recording: as by a signal that its handler took. With --once only in a replay, and only by the first
// process that gets there; with --while only in a replay, and as long as that file exists: as by a passing
// fault.
bool ends(const std::string& how, int64_t epoch) {
  if (text("end") != how || epoch != number("at", 3)) return false;
  if (flag("recorded")) return !replaying();
  if (flag("while")) return replaying() && ::access(text("while").c_str(), F_OK) == 0;
  if (!flag("once")) return true;
  const int file = replaying() ? ::open(text("once").c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600) : -1;
  if (file >= 0) ::close(file);
  return file >= 0;
}

// --handler: SIGTERM lets the loop end in this iteration; with --handler=inner the loop inside of each
// iteration.
volatile std::sig_atomic_t told_to_end = 0;
void end_soon(int) {
  told_to_end = 1;
}

void loop_of_endings(Model& model) {
  bool stop =
      false;  // not declared: what a block finds out decides, so its last execution must not be skipped
  for (Loop epoch{"epoch", 0, number("epochs", 6)}; epoch.next();) {
    try {
      if (SkipBlock block{"train", model.trained()}; block.step_into()) {
        trace("train " + std::to_string(*epoch));
        if (flag("child") && *epoch == 0) leave_child();
        model.step();
        log("loss", model.loss());
        inner_probe(model);
        hold(*epoch);
        stop = ends("found", *epoch) || ends("diverged", *epoch);
        if (ends("exit", *epoch)) std::exit(static_cast<int>(number("code", 0)));
        if (ends("throw", *epoch) || ends("caught", *epoch)) throw std::runtime_error("training failed");
        model.step();
      }
    } catch (const std::runtime_error&) {
      log("caught", model.loss());
      if (text("end") == "throw") throw;
    }
    if (stop && text("end") == "diverged") throw std::runtime_error("it diverges");
    if (stop || ends("break", *epoch) || (told_to_end != 0 && text("handler") != "inner")) break;
    for (Loop batch{"batch", 0, 4}; batch.next();) {
      if (told_to_end != 0) break;
      bool enough = false;
      if (SkipBlock block{"batch", {model.weights, model.velocity, model.steps}}; block.step_into()) {
        trace("batch " + std::to_string(*epoch) + "." + std::to_string(*batch));
        model.step();
        enough = text("end") == "nested" && *batch == *epoch % 3;
      }
      log("batch_loss", model.loss());
      stop = *batch == 1 && ends("inside", *epoch);
      if (enough || stop) break;
    }
    if (stop) break;
    model.rate *= 0.95;
    log("accuracy", model.loss());
    if (flag("clock"))
      log("time", static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count()), true);
    if (ends("late", *epoch)) throw std::runtime_error("the validation data cannot be read");
    outer_probe(model);
  }
}

}  // namespace

int endings() {
  if (flag("handler")) std::signal(SIGTERM, end_soon);
  Model model;
  std::optional<Guard> guard;
  if (flag("guard")) guard.emplace(model.all());
  try {
    loop_of_endings(model);
  } catch (const std::runtime_error&) {
    log("failed", model.loss());
    return static_cast<int>(number("code", 0));
  }
  trace("behind");
  log("end", model.loss() + uniform());
  return static_cast<int>(number("code", 0));
}

int forks() {
  Model model;
  pid_t child = -1;
  for (Loop epoch{"epoch", 0, 4}; epoch.next();) {
    if (*epoch == 1 && child < 0) {
      std::fflush(nullptr);
      child = ::fork();
    }
    if (SkipBlock block{"train", model.trained()}; block.step_into()) {
      model.step();
      log("loss", model.loss() + (child == 0 ? 1000 : 0));
      inner_probe(model);
    }
    log("accuracy", model.loss());
    outer_probe(model);
  }
  trace(child == 0 ? "child" : "parent");
  if (child == 0) std::exit(5);
  int status = 0;
  if (child > 0) ::waitpid(child, &status, 0);
  return child < 0 || WEXITSTATUS(status) == 5 ? 0 : 1;
}

// As data loaders do: each epoch starts a helper and terminates it. What became of it shows in the rows.
int helpers() {
  Model model;
  std::optional<Guard> guard;
  if (flag("guard")) guard.emplace(model.all());
  for (Loop epoch{"epoch", 0, 6}; epoch.next();) {
    if (SkipBlock block{"train", model.trained()}; block.step_into()) {
      const pid_t helper = ::fork();
      while (helper == 0) ::pause();
      model.step();
      ::kill(helper, SIGTERM);
      int status = 0;
      ::waitpid(helper, &status, 0);
      log("helper", WIFSIGNALED(status) ? WTERMSIG(status) : -1);
      log("loss", model.loss());
      inner_probe(model);
    }
    log("accuracy", model.loss());
  }
  return 0;
}

int watchers() {
  std::atomic<bool> done{false};
  std::vector<std::thread> watchers;
  for (int i = 0; i < 4; ++i) {
    watchers.emplace_back([&done] {
      while (!done) log("busy", 0.5, true);
    });
  }
  Model model;
  for (int i = 0; i < 1000; ++i) log("configured", i);
  for (Loop epoch{"epoch", 0, 3}; epoch.next();) {
    if (SkipBlock block{"train", model.trained()}; block.step_into()) model.step();
    log("loss", model.loss());
  }
  done = true;
  for (auto& watcher : watchers) watcher.join();
  return 0;
}

int rows() {
  for (Loop epoch{"epoch", 0, 2}; epoch.next();) {
    double state = static_cast<double>(*epoch);
    if (SkipBlock block{"train", {state}}; block.step_into()) {
      log("nan", std::nan(""));
      log("infinity", std::numeric_limits<double>::infinity());
      log("negative_infinity", -std::numeric_limits<double>::infinity());
      log("negative_zero", -0.0);
      log("tenth", 0.1F);  // the double that the float equals
      log("third", 1.0 / 3.0);
      log("smallest", std::numeric_limits<double>::denorm_min());
      log("whole", 3.0);
      log_integer("integer", std::numeric_limits<int64_t>::max());
      log_integer("negative", std::numeric_limits<int64_t>::min());
      log_text("text", "two\nlines, \"quoted\", \xc3\xa9");
    }
    outer_probe(Model());
  }
  return 0;
}

int unlooped() {
  log("loss", 1.5);
  return static_cast<int>(number("code", 0));
}

int silent() {
  return static_cast<int>(number("code", 0));
}

}  // namespace rules
