#include "commands/sources/probes_report.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "commands/base/options.h"
#include "commands/sources/unheld.h"

namespace flor::commands {
namespace {

constexpr std::size_t kWidth = 100;

// Returns `first` and `text`, with lines broken between words. The lines after the first are indented.
std::string wrapped(const std::string& first, const std::string& text, std::size_t indent) {
  std::string out = first;
  std::size_t column = first.size();
  std::istringstream words(text);
  bool begins = true;
  for (std::string word; words >> word;) {
    if (!begins && column + 1 + word.size() > kWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!begins) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    begins = false;
  }
  return out + "\n";
}

// Returns true for a member of a class that is also listed with its object ("x" beside "a.x").
bool is_listed_with_object(const std::vector<probes::Input>& inputs, const probes::Input& one) {
  const std::string end = "." + one.name;
  return std::any_of(inputs.begin(), inputs.end(), [&](const probes::Input& other) {
    const std::size_t size = other.name.size();
    return other.held == one.held && size > end.size() &&
           other.name.compare(size - end.size(), end.size(), end) == 0;
  });
}

// Each reason with all names that have it, so that it needs one line. Sorted by the first name.
using Reasons = std::vector<std::pair<std::string, std::set<std::string>>>;
Reasons by_reason(const std::vector<probes::Input>& inputs, bool held) {
  std::map<std::string, std::set<std::string>> all;
  for (const auto& input : inputs) {
    if (input.held == held && !is_listed_with_object(inputs, input))
      all[input.why].insert(plain_name(input.name));
  }
  Reasons out(all.begin(), all.end());
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return out;
}

std::string joined(const std::set<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::string executing(const std::set<std::string>& blocks) {
  if (blocks.empty()) return "no block executes";
  return blocks.size() == 1 ? "block " + *blocks.begin() + " executes"
                            : "blocks " + joined(blocks) + " execute";
}

// Returns the blocks that execute because of this probe. A plan does not keep `changed_by`, so there all
// blocks count that the probe depends on.
std::set<std::string> blocks_of(const probes::ProbeAnalysis& analysis, const probes::AddedLog& log) {
  std::set<std::string> wanted{log.block};
  for (const auto& input : log.inputs) {
    if (input.held) continue;
    const auto& blocks = input.changed_by.empty() ? log.depends : input.changed_by;
    wanted.insert(blocks.begin(), blocks.end());
  }
  std::set<std::string> out;
  std::set_intersection(wanted.begin(), wanted.end(), analysis.blocks.begin(), analysis.blocks.end(),
                        std::inserter(out, out.end()));
  return out;
}

std::string summary_of(const probes::ProbeAnalysis& analysis) {
  std::string out = analysis.logs.empty() ? "no probe was added" : counted(analysis.logs.size(), "probe");
  if (analysis.all) {
    out += ": every block executes";
  } else {
    out += ": " + executing(analysis.blocks);
    if (!analysis.blocks.empty()) out += ", all others are skipped";
    if (!analysis.lead_in.empty())
      out += "; in front of a unit that is entered by pseudoresume, " + joined(analysis.lead_in) +
             (analysis.lead_in.size() == 1 ? " executes, too" : " execute, too");
  }
  if (analysis.from_start) out += "; the program runs from its start, whatever the checkpoints are";
  return out;
}

}  // namespace

std::string text_of(const probes::ProbeAnalysis& analysis, const probes::AddedLog& log, std::size_t indent) {
  const std::string margin(indent, ' ');
  const std::string head = margin + std::filesystem::path(log.file).filename().string() + ":" +
                           std::to_string(log.line) + " " + (log.name.empty() ? "flor::log" : log.name) +
                           ": ";
  const std::string what = analysis.all ? "every block executes" : executing(blocks_of(analysis, log));
  std::string out =
      wrapped(head, log.withheld.empty() ? what : "its rows are not given, it " + log.withheld, indent + 4);
  for (const auto& [why, names] : by_reason(log.inputs, false))
    out += wrapped(margin + "  not held  ", joined(names) + ": " + why, indent + 12);
  for (const auto& [why, names] : by_reason(log.inputs, true))
    out += wrapped(margin + "  held      ", joined(names) + ": " + why, indent + 12);
  return out;
}

std::string text_of(const probes::ProbeAnalysis& analysis) {
  std::string out = wrapped("", summary_of(analysis), 2);
  for (const auto& log : analysis.logs) out += "\n" + text_of(analysis, log);
  if (analysis.reasons.empty()) return out;
  out += "\nwhy:\n";
  for (const auto& reason : analysis.reasons) out += wrapped("  ", reason, 4);
  for (const auto& reason : analysis.whole_iterations)
    out += wrapped("  ", reason + ": whole iterations run", 4);
  return out;
}

probes::ProbeAnalysis analysis_of(const core::Plan& plan) {
  probes::ProbeAnalysis out;
  out.all = plan.execute_all;
  out.blocks = plan.execute;
  out.lead_in = plan.lead_in;
  out.reasons = plan.reasons;
  for (const auto& probe : plan.probes) {
    probes::AddedLog log{probe.name, probe.file, probe.line, probe.block};
    for (const auto& input : probe.inputs) log.inputs.push_back({input.name, input.held, input.why});
    log.depends = probe.depends;
    log.withheld = probe.withheld;
    out.logs.push_back(std::move(log));
  }
  return out;
}

core::Json to_json(const probes::ProbeAnalysis& analysis) {
  core::Json logs = core::Json::array();
  for (const auto& log : analysis.logs) {
    core::Json inputs = core::Json::array();
    for (const auto& input : log.inputs) {
      core::Json one{{"name", plain_name(input.name)}, {"held", input.held}, {"why", input.why}};
      // Two functions may have variables of the same name.
      if (std::find(inputs.begin(), inputs.end(), one) == inputs.end()) inputs.push_back(std::move(one));
    }
    logs.push_back({{"name", log.name},
                    {"file", log.file},
                    {"line", log.line},
                    {"block", log.block},
                    {"inputs", inputs},
                    {"withheld", log.withheld}});
  }
  return {{"all", analysis.all},
          {"execute", analysis.blocks},
          {"lead_in", analysis.lead_in},
          {"from_start", analysis.from_start},
          {"probes", logs},
          {"reasons", analysis.reasons}};
}

}  // namespace flor::commands
