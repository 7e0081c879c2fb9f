#include "commands/sources/unheld.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "probes/flow/flow.h"
#include "probes/program/model.h"
#include "probes/program/program.h"

namespace flor::commands {
namespace {

using probes::Unheld;

constexpr std::size_t kMostWarnings = 10;
constexpr unsigned kMostSeconds = 2;

std::string last_part(const std::string& name) {
  return name.substr(name.rfind('.') + 1);
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Returns true if all calls of the method are on objects that the caller names. Then the changed members are
// named there, too.
bool is_called_on_objects(const probes::Flow& flow, int function, int depth) {
  constexpr int most_calls = 8;
  const auto& callers = flow.callers_of(function);
  if (callers.empty() || flow.holds_blocks(function) || depth > most_calls) return false;
  return std::all_of(callers.begin(), callers.end(), [&](const probes::Flow::Site& site) {
    if (site.call->method && site.call->receiver.symbol >= 0) return true;
    const int caller = flow.model().statement(site.statement).function;
    return flow.model().function(caller).method && is_called_on_objects(flow, caller, depth + 1);
  });
}

// Returns true if only methods that are called on named objects change this member of a class.
bool is_named_by_callers(const probes::Flow& flow, const Unheld& one) {
  const probes::Model& model = flow.model();
  if (model.members.count(model.find(one.name)) == 0) return false;
  for (const probes::Statement& statement : model.statements) {
    const auto& source = model.program->sources[static_cast<std::size_t>(statement.source)];
    if (source.name != one.file || model.line(statement) != one.line) continue;
    if (!model.function(statement.function).method || !is_called_on_objects(flow, statement.function, 0))
      return false;
  }
  return true;
}

// Returns true if the variable needs no warning of its own. A module that is a member of another module is
// held with that. A member of a class without its object is also found with the object on which a method is
// called, unless that is held.
bool is_noise(const probes::Flow& flow, const std::vector<Unheld>& all, const Unheld& one) {
  const probes::Model& model = flow.model();
  if (model.registered.count(model.find(last_part(one.name))) != 0) return true;
  const bool again = std::any_of(all.begin(), all.end(), [&](const Unheld& other) {
    return other.block == one.block && ends_with(other.name, "." + one.name);
  });
  return again || is_named_by_callers(flow, one);
}

std::string place_of(const Unheld& one) {
  return one.name + " (" + one.file + ":" + std::to_string(one.line) + ")";
}

bool has(const std::vector<Unheld>& all, const std::string& name, bool in_block) {
  return std::any_of(all.begin(), all.end(), [&](const Unheld& other) {
    return other.name == name && other.block.empty() != in_block;
  });
}

}  // namespace

std::string plain_name(const std::string& name) {
  return name.substr(0, name.find(".("));
}

std::vector<Unheld> unheld_in(const SourceFiles& sources) {
  const probes::Program program = probes::read_program(sources.files);
  const probes::Model model = probes::build_model(program);
  if (model.loops.empty()) return {};  // a front end that the reader does not know
  const probes::Flow flow(model);
  std::vector<Unheld> all = probes::unheld(flow);
  for (Unheld& one : all) one.name = plain_name(one.name);
  std::vector<Unheld> out;
  std::set<std::pair<std::string, std::string>> said;
  for (const Unheld& one : all) {
    if (!is_noise(flow, all, one) && said.insert({one.block, one.name}).second) out.push_back(one);
  }
  return out;
}

std::vector<std::string> describe(const std::vector<Unheld>& all) {
  std::vector<std::string> out;
  // The main loop comes first: these variables make every question about them expensive.
  for (const Unheld& one : all) {
    if (!one.block.empty() || has(all, one.name, true)) continue;
    out.push_back("the main loop carries " + place_of(one) +
                  " and flor::checkpointing does not hold it: a later question about it runs the program "
                  "from its start");
  }
  for (const Unheld& one : all) {
    if (one.block.empty()) continue;
    const bool carried = has(all, one.name, false);
    out.push_back("block " + one.block + " changes " + place_of(one) +
                  (carried
                       ? " and neither it nor flor::checkpointing holds it: a later question about it runs "
                         "the program from its start"
                       : " and does not hold it: a later question about it executes the block"));
  }
  return out;
}

std::vector<std::string> warnings_of(const std::vector<Unheld>& all, const std::string& run) {
  std::vector<std::string> out = describe(all);
  if (out.size() <= kMostWarnings) return out;
  const std::size_t more = out.size() - kMostWarnings;
  out.resize(kMostWarnings);
  out.push_back("… and " + std::to_string(more) + " more (flor show " + run + ")");
  return out;
}

core::Json to_json(const std::vector<Unheld>& all) {
  core::Json out = core::Json::array();
  for (const auto& one : all)
    out.push_back({{"block", one.block}, {"name", one.name}, {"file", one.file}, {"line", one.line}});
  return out;
}

void warn_of_unheld(const SourceFiles& sources, const std::string& run) {
  std::string text;
  for (const auto& line : warnings_of(unheld_in(sources), run)) text += "flor: " + line + "\n";
  // One write, so that the lines do not mix with those of a program that runs meanwhile.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

bool warn_before_start(const std::filesystem::path& program, const std::string& run) {
  const core::SourceScan scan = core::scan_sources(program);
  if (scan.files.empty()) return false;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kMostSeconds);
    try {
      warn_of_unheld(present_sources(scan), run);
    } catch (const std::exception&) {
      // The training starts without warnings.
    }
    ::_exit(0);
  }
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return true;
}

}  // namespace flor::commands
