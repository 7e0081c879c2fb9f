#include "commands/check_complete.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "commands/answers.h"
#include "commands/exit_code.h"
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

// Units first … last, all of them executed.
Asked everything_of(Asked asked, int64_t first, int64_t last) {
  asked.plan.selected = {first, last + 1};
  asked.plan.execute_all = asked.plan.lead_in_all = true;
  asked.plan.question = core::check_question;  // no `flor replay` goes on with it
  return asked;
}

// Executes it with one worker: the texts of the units from `unit` on.
std::string execute(const Asked& asked, int64_t unit, const Interrupt& interrupt) {
  const core::Store store(asked.run.path.parent_path());
  const Trial trial(asked.run, "check-");
  Display display(Show::nothing);
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
  std::string text;
  for (const int64_t id : plan.selected.ids()) {
    if (id >= unit) text += core::read_file(trial.replay().unit(id));
  }
  return text;
}

// A unit that was reached in two ways.
struct Finding {
  int64_t unit = 0;
  std::string where;                     // "epoch 3"
  std::string guard;                     // that something may be missing in
  const char *resumed, *other;           // the ways
  std::string resumed_line, other_line;  // the first lines that differ; empty: none do
  bool same() const { return resumed_line == other_line; }
};

void compare(Finding& finding, const std::string& resumed, const std::string& other) {
  if (resumed == other) return;
  std::istringstream a(resumed);
  std::istringstream b(other);
  do {
    finding.resumed_line.clear();
    finding.other_line.clear();
    std::getline(a, finding.resumed_line);
    std::getline(b, finding.other_line);
  } while (finding.same() && (a || b));
}

// A unit of whole iterations: by its checkpoint, and by the program from its start.
Finding between_iterations(const Asked& asked, const Interrupt& interrupt) {
  const auto unit = static_cast<int64_t>(asked.plan.units.size()) / 2;
  const core::Unit& at = asked.plan.units[static_cast<std::size_t>(unit)];
  const std::string& loop = asked.manifest.main_loop()->name;
  Finding out{
      unit, loop + " " + std::to_string(at.first), "in front of loop " + loop, "resumed", "pseudoresumed", "",
      ""};
  if (at.last > at.first) out.where += " to " + std::to_string(at.last);
  const Asked resumed = everything_of(asked, unit, unit);
  Asked from_start = resumed;
  enter_from_start(from_start.plan);
  compare(out, execute(resumed, unit, interrupt), execute(from_start, unit, interrupt));
  return out;
}

// From a unit that begins between two steps to the end of its iteration: by its checkpoint, and by the steps
// in front of it.
Finding between_steps(const Asked& asked, int64_t unit, const Interrupt& interrupt) {
  const auto at = [&](int64_t id) { return asked.plan.units[static_cast<std::size_t>(id)]; };
  const std::string step = asked.plan.inner.substr(asked.plan.inner.rfind('/') + 1);
  const std::string where = asked.manifest.main_loop()->name + " " + std::to_string(at(unit).first) +
                            " from " + step + " " + std::to_string(at(unit).from);
  Finding out{unit, where, "in front of loop " + step, "resumed", "run through", "", ""};
  int64_t first = unit;
  while (at(first).from >= 0) --first;
  int64_t last = unit;
  while (at(last).to >= 0) ++last;
  compare(out, execute(everything_of(asked, unit, last), unit, interrupt),
          execute(everything_of(asked, first, last), unit, interrupt));
  return out;
}

std::optional<int64_t> unit_inside(const core::Plan& plan) {
  const std::size_t count = plan.units.size();
  for (std::size_t k = 0; k < count; ++k) {
    const core::Unit& unit = plan.units[(count / 2 + k) % count];
    if (unit.from >= 0) return unit.id;
  }
  return std::nullopt;
}

void show(const core::RunDir& run, const Finding& finding) {
  print("run " + run.id() + ": " + finding.where);
  if (finding.same())
    return print(std::string(" is the same ") + finding.resumed + " and " + finding.other + "\n");
  const std::string resumed = std::string(finding.resumed) + ":";
  const std::string other = std::string(finding.other) + ":";
  const std::size_t width = std::max(resumed.size(), other.size()) + 1;
  print(" differs: something that it depends on is not given to the flor::checkpointing " + finding.guard +
        "\n  " + resumed + std::string(width - resumed.size(), ' ') + finding.resumed_line + "\n  " + other +
        std::string(width - other.size(), ' ') + finding.other_line + "\n");
}

}  // namespace

int check_complete(const core::RunDir& run, const std::vector<std::string>& program, bool json) {
  Request request{run, "", "all", false, program};
  const Asked parts = ask(request);
  request.whole_iterations = true;
  const Asked whole = ask(request);
  if (!whole.plan.complete) {
    throw core::UsageError("run " + run.id() +
                           " was recorded without flor::checkpointing: nothing is resumed in it");
  }
  const auto inside = unit_inside(parts.plan);
  if (whole.plan.units.size() < 2 && !inside) {
    throw core::UsageError("run " + run.id() +
                           " has one unit, and none that is resumed; record more iterations, or "
                           "with --every 1");
  }
  const Interrupt interrupt;
  std::vector<Finding> findings;
  if (whole.plan.units.size() > 1) findings.push_back(between_iterations(whole, interrupt));
  if (inside) findings.push_back(between_steps(parts, *inside, interrupt));
  bool complete = true;
  core::Json out = core::Json::array();
  for (const auto& finding : findings) {
    complete = complete && finding.same();
    out.push_back({{"unit", finding.unit},
                   {"where", finding.where},
                   {"same", finding.same()},
                   {"ways", {finding.resumed, finding.other}},
                   {"lines", {finding.resumed_line, finding.other_line}}});
    if (!json) show(run, finding);
  }
  if (json) print_json({{"run", run.id()}, {"complete", complete}, {"checks", out}});
  return complete ? kDone : kDiffers;
}

}  // namespace flor::commands
