#include "commands/replay/check_complete.h"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include "commands/base/exit_code.h"
#include "commands/base/output.h"
#include "commands/replay/backend.h"
#include "commands/replay/monitor.h"
#include "commands/replay/replay_request.h"
#include "commands/sources/source_files.h"
#include "commands/sources/unheld.h"
#include "core/base/error.h"
#include "core/files/durable.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;

// A replay whose directory is removed at the end, whatever its result.
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

// Returns a question for units first … last, with every block executed.
Asked everything_of(Asked asked, int64_t first, int64_t last) {
  asked.plan.selected = {first, last + 1};
  asked.plan.execute_all = asked.plan.lead_in_all = true;
  asked.plan.question = core::check_question;  // so that no `flor replay` goes on with it
  asked.plan.proofs = 0;
  return asked;
}

// The content of unit files, by the unit's id.
using Texts = std::map<int64_t, std::string>;

// Joins the texts from `unit` on.
std::string from(const Texts& texts, int64_t unit) {
  std::string out;
  for (auto at = texts.lower_bound(unit); at != texts.end(); ++at) out += at->second;
  return out;
}

// Executes the question with one local worker.
Texts execute(const Asked& asked, const Interrupt& interrupt) {
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
  Texts texts;
  for (const int64_t id : plan.selected.ids()) texts[id] = core::read_file(trial.replay().unit(id));
  return texts;
}

// A unit that was reached in two ways.
struct Finding {
  int64_t unit = 0;
  std::string where;                     // "epoch 3"
  std::string guard;                     // the flor::checkpointing that may lack a variable
  std::string resumed, other;            // the names of the two ways
  std::string resumed_line, other_line;  // the first lines that differ; both empty if none do
  bool same() const { return resumed_line == other_line; }
};

// Sets the lines of the finding from the texts of the two ways.
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

std::string range_of(const std::string& loop, const core::Unit& first, const core::Unit& last) {
  std::string out = loop + " " + std::to_string(first.first);
  if (last.last > first.first) out += " to " + std::to_string(last.last);
  return out;
}

// Checks two adjacent units of whole iterations. Compares them entered by their checkpoints with entered by
// the program from its start. Compares the second one alone with the second one after the first, which may
// have left variables behind.
void between_iterations(const Asked& asked, const Interrupt& interrupt, std::vector<Finding>& out) {
  const auto unit = static_cast<int64_t>(asked.plan.units.size()) / 2;
  const core::Unit& before = asked.plan.units[static_cast<std::size_t>(unit - 1)];
  const core::Unit& at = asked.plan.units[static_cast<std::size_t>(unit)];
  const std::string& loop = asked.manifest.main_loop()->name;
  const std::string guard = "in front of loop " + loop;
  const Asked both = everything_of(asked, unit - 1, unit);
  Asked from_start = both;
  enter_from_start(from_start.plan);
  const Texts resumed = execute(both, interrupt);
  out.push_back({unit, range_of(loop, before, at), guard, "resumed", "pseudoresumed", "", ""});
  compare(out.back(), from(resumed, unit - 1), from(execute(from_start, interrupt), unit - 1));
  out.push_back({unit, range_of(loop, at, at), guard, "resumed alone",
                 "resumed after " + range_of(loop, before, before), "", ""});
  compare(out.back(), from(execute(everything_of(asked, unit, unit), interrupt), unit), from(resumed, unit));
}

// Checks from a unit that begins between two steps to the end of its iteration. Compares it entered by its
// checkpoint with entered by the steps before it.
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
  compare(out, from(execute(everything_of(asked, unit, last), interrupt), unit),
          from(execute(everything_of(asked, first, last), interrupt), unit));
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
  if (finding.same()) return print(" is the same " + finding.resumed + " and " + finding.other + "\n");
  const std::string resumed = finding.resumed + ":";
  const std::string other = finding.other + ":";
  const std::size_t width = std::max(resumed.size(), other.size()) + 1;
  print(" differs: something that it depends on is not given to the flor::checkpointing " + finding.guard +
        "\n  " + resumed + std::string(width - resumed.size(), ' ') + finding.resumed_line + "\n  " + other +
        std::string(width - other.size(), ' ') + finding.other_line + "\n");
}

// Returns the variables that, by the recorded sources, are carried between iterations and not held. The two
// units may be equal without them, if their effect was by chance the same in both.
std::vector<probes::Unheld> carried_in(const core::RunDir& run, const core::Manifest& manifest) {
  std::vector<probes::Unheld> all = unheld_in(recorded_sources(run, manifest));
  all.erase(std::remove_if(all.begin(), all.end(), [](const auto& one) { return !one.block.empty(); }),
            all.end());
  return all;
}

int report(const core::RunDir& run, const std::vector<Finding>& findings,
           const std::vector<probes::Unheld>& carried, bool json) {
  bool complete = carried.empty();
  core::Json checks = core::Json::array();
  for (const auto& finding : findings) {
    complete = complete && finding.same();
    checks.push_back({{"unit", finding.unit},
                      {"where", finding.where},
                      {"same", finding.same()},
                      {"ways", {finding.resumed, finding.other}},
                      {"lines", {finding.resumed_line, finding.other_line}}});
    if (!json) show(run, finding);
  }
  if (json) {
    print_json({{"run", run.id()}, {"complete", complete}, {"checks", checks}, {"unheld", to_json(carried)}});
  } else {
    for (const auto& one : carried)
      print("run " + run.id() + ": " + one.name + " (" + one.file + ":" + std::to_string(one.line) +
            ") is carried from iteration to iteration and the guard does not hold it\n");
  }
  return complete ? kDone : kDiffers;
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
  if (whole.plan.units.size() > 1) between_iterations(whole, interrupt, findings);
  if (inside) findings.push_back(between_steps(parts, *inside, interrupt));
  return report(run, findings, carried_in(run, whole.manifest), json);
}

}  // namespace flor::commands
