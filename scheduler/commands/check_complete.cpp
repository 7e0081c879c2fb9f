#include "commands/check_complete.h"

#include <algorithm>
#include <iostream>
#include <sstream>

#include "commands/answers.h"
#include "commands/commands.h"
#include "commands/monitor.h"
#include "commands/output.h"
#include "commands/workplace.h"
#include "core/durable.h"
#include "core/error.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;

// A replay that is removed again, whatever it came to.
class Trial {
 public:
  Trial(const core::RunDir& run, const char* prefix) : replay_(run.replay(core::new_id(prefix))) {
    core::create_directories_durably(replay_.workers());
  }
  ~Trial() {
    std::error_code ignored;
    fs::remove_all(replay_.path, ignored);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  const core::ReplayDir& replay() const { return replay_; }

 private:
  core::ReplayDir replay_;
};

// One unit, all of it executed, entered as `complete` says.
Asked variant(Asked asked, int64_t unit, bool complete) {
  core::Plan& plan = asked.plan;
  plan.complete = complete;
  plan.selected = {unit, unit + 1};
  plan.execute_all = plan.lead_in_all = true;
  plan.question = core::check_question;  // no `flor replay` goes on with it
  if (!complete) enter_from_start(plan);
  return asked;
}

std::string execute(const core::Store& store, const Asked& asked, const Trial& trial, Display& display,
                    const Interrupt& interrupt) {
  WorkplaceFlags here;
  here.launcher = "local";
  Workplace place = open_workplace(store, asked, trial.replay(), here);
  const core::Plan plan = publish(asked, trial.replay(), 1);
  queue::Queue queue(place.redis, trial.replay());
  queue.ensure(plan);
  place.launcher->start(1);
  Monitor monitor(trial.replay(), plan, *place.launcher, queue, display, interrupt);
  const Watched watched = monitor.watch(1);
  if (watched.end == End::interrupted) throw core::Error("stopped");
  if (watched.end == End::failed) throw core::Error(watched.why);
  place.launcher->finish(std::chrono::seconds(10));
  queue.remove();
  return core::read_file(trial.replay().unit(plan.selected.ids().front()));
}

struct Finding {
  bool same = true;
  std::string resumed, pseudoresumed;  // the first lines that differ
};

Finding compare(const std::string& resumed, const std::string& pseudoresumed) {
  Finding out;
  if (resumed == pseudoresumed) return out;
  out.same = false;
  std::istringstream a(resumed);
  std::istringstream b(pseudoresumed);
  do {
    out.resumed.clear();
    out.pseudoresumed.clear();
    std::getline(a, out.resumed);
    std::getline(b, out.pseudoresumed);
  } while (out.resumed == out.pseudoresumed && (a || b));
  return out;
}

}  // namespace

int check_complete(const core::RunDir& run, const std::vector<std::string>& program, bool json) {
  Asked asked = ask({run, "", "all", false, program});
  const auto count = static_cast<int64_t>(asked.plan.units.size());
  if (!asked.plan.complete) {
    throw core::UsageError("run " + run.id() +
                           " was recorded without flor::checkpointing: nothing is resumed in it");
  }
  if (count < 2) {
    throw core::UsageError("run " + run.id() +
                           " has one unit, and none that is resumed; record more iterations, or "
                           "with --every 1");
  }
  const int64_t unit = count / 2;
  const core::Store store(run.path.parent_path());
  const Interrupt interrupt;
  Display display(Show::nothing);
  const Trial first(run, "check-resumed-");
  const Trial second(run, "check-pseudoresumed-");
  const auto resumed = execute(store, variant(asked, unit, true), first, display, interrupt);
  const auto pseudoresumed = execute(store, variant(asked, unit, false), second, display, interrupt);
  const Finding finding = compare(resumed, pseudoresumed);
  const core::Unit& where = asked.plan.units[static_cast<std::size_t>(unit)];
  const std::string name = asked.manifest.main_loop()->name + " " + std::to_string(where.first) +
                           (where.last > where.first ? " to " + std::to_string(where.last) : "");
  if (json) {
    print_json({{"run", run.id()},
                {"unit", unit},
                {"complete", finding.same},
                {"resumed", finding.resumed},
                {"pseudoresumed", finding.pseudoresumed}});
  } else if (finding.same) {
    print("run " + run.id() + ": " + name + " is the same resumed and pseudoresumed\n");
  } else {
    print("run " + run.id() + ": " + name +
          " differs: something that it depends on is not given to "
          "flor::checkpointing\n  resumed:       " +
          finding.resumed + "\n  pseudoresumed: " + finding.pseudoresumed + "\n");
  }
  return finding.same ? kDone : kDiffers;
}

}  // namespace flor::commands
