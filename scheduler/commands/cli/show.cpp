// flor show: shows one run, or one replay of a run.
#include <algorithm>
#include <memory>

#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/cli/commands.h"
#include "commands/replay/show_replay.h"
#include "commands/replay/shown_run.h"
#include "commands/sources/unheld.h"
#include "core/base/printable.h"
#include "core/base/units_text.h"
#include "core/files/json_lines.h"
#include "core/store/liveness.h"
#include "core/store/manifest.h"
#include "core/store/slurm_job.h"
#include "results/report/policy_text.h"
#include "results/report/summary.h"
#include "results/report/table.h"

namespace flor::commands {
namespace {

using core::field;
using core::Json;
using results::Table;

struct Flags {
  std::string run, store;
  bool json = false, policy = false;
};

template <class Map>
std::string pairs_text(const Map& map) {
  std::string out;
  for (const auto& [key, value] : map) {
    out += (out.empty() ? "" : ", ") + key + "=" + (value.empty() ? "none" : value);
  }
  return out;
}

std::string joined_text(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + word;
  return core::printable(out);
}

void add_line(std::string& out, const std::string& label, const std::string& text) {
  if (!text.empty()) out += label + std::string(label.size() < 13 ? 13 - label.size() : 1, ' ') + text + "\n";
}

std::string status_text(const Shown& shown) {
  const auto& manifest = shown.manifest;
  std::string out = shown.status;
  if (manifest.exit_code) out += ", exit code " + std::to_string(*manifest.exit_code);
  if (shown.status == "killed")
    out += ": replay offers the iterations that were finished, --flor-resume goes on with it";
  if (shown.status == "unknown")
    out += ": " + core::how_to_unlock(shown.run, core::liveness_of(shown.run, core::state_of_job));
  return out;
}

// Returns how often the run was resumed, and where the last time.
std::string resumed_text(const Shown& shown) {
  const int64_t times = shown.manifest.attempt;
  if (times == 0) return "";
  std::string out = times == 1 ? "once" : std::to_string(times) + " times";
  for (auto row = shown.timeline.rbegin(); row != shown.timeline.rend(); ++row) {
    if (field<std::string>(*row, "kind", "") != "resumed") continue;
    out += ", last with " + field<std::string>(*row, "loop", "") + "=" +
           std::to_string(field<int64_t>(*row, "next", 0)) + " at " +
           results::time_text(field(*row, "time", 0.0)) + " UTC";
    break;
  }
  return out;
}

std::string head_text(const Shown& shown) {
  const auto& manifest = shown.manifest;
  std::string out;
  add_line(out, "run", shown.run.id() + (manifest.name.empty() ? "" : " (" + manifest.name + ")"));
  add_line(out, "status", status_text(shown));
  add_line(out, "command", joined_text(manifest.command));
  std::string when =
      results::time_text(manifest.started) + " UTC on " + manifest.host + " by " + manifest.user;
  if (manifest.finished) when += ", " + shown_seconds(*manifest.finished - manifest.started);
  if (!manifest.slurm_job.empty()) when += ", job " + manifest.slurm_job;
  add_line(out, "recorded", when);
  add_line(out, "resumed", resumed_text(shown));
  add_line(out, "arguments", pairs_text(manifest.args));
  add_line(out, "environment", pairs_text(manifest.environment));
  std::string policy = "adaptive, epsilon " + results::short_number(manifest.epsilon);
  if (manifest.mtbf) policy += ", mean time between failures " + shown_seconds(*manifest.mtbf);
  if (manifest.every > 0)
    policy = "a checkpoint after every " + std::to_string(manifest.every) + " executions";
  if (manifest.keep > 0) policy += "; the newest " + std::to_string(manifest.keep) + " of each kind are kept";
  add_line(out, "policy", policy);
  add_line(out, "checkpoints",
           std::to_string(shown.checkpoints.files.size()) + " (" + core::bytes_text(shown.checkpoints.bytes) +
               ")");
  add_line(out, "local tier", results::local_tier_text(shown.local));
  const std::string how = manifest.complete() ? ", entered by restoring their checkpoint"
                                              : ", entered by pseudoresume (checkpoints are partial)";
  add_line(out, "units", std::to_string(shown.units.size()) + (shown.units.empty() ? "" : how));
  return out;
}

std::string loops_text(const Shown& shown) {
  Table table({{"LOOP"}, {"ITERATIONS", true}, {"LAST", true}, {"ENDED"}, {"TIME", true}, {""}});
  for (const auto& loop : shown.manifest.loops) {
    const bool main = &loop == shown.manifest.main_loop();
    table.add({loop.name, std::to_string(loop.iterations),
               loop.iterations > 0 ? std::to_string(loop.last) : "-", core::to_string(loop.ended),
               shown_seconds(loop.seconds), main ? "main loop" : ""});
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string blocks_text(const Shown& shown) {
  Table table(
      {{"BLOCK"}, {"n", true}, {"k", true}, {"C", true}, {"M", true}, {"STATE", true}, {"DECISIONS"}});
  for (const auto& block : shown.blocks) {
    std::string decisions =
        std::to_string(block.materialized) + " materialized, " + std::to_string(block.skipped) + " left out";
    if (block.failed > 0) decisions += ", " + std::to_string(block.failed) + " failed";
    table.add({block.block, std::to_string(block.executions), std::to_string(block.checkpoints),
               results::cost_text(block.seconds), results::cost_text(block.cost),
               core::bytes_text(block.bytes), decisions});
  }
  return table.empty() ? "" : "\n" + table.text();
}

std::string replays_text(const Shown& shown) {
  Table table({{"REPLAY"},
               {"VERDICT"},
               {"UNITS", true},
               {"VALUES", true},
               {"DIGESTS", true},
               {"EXECUTED", true},
               {"SKIPPED", true},
               {"TIME", true}});
  std::string failures;
  for (const auto& replay : shown.replays) {
    const std::string units = std::to_string(replay.committed) + "/" + std::to_string(replay.selected);
    if (replay.verdict) {
      const auto& verdict = *replay.verdict;
      table.add({replay.id, replay.state, units, std::to_string(verdict.values),
                 std::to_string(verdict.digests), std::to_string(verdict.executed()),
                 std::to_string(verdict.skipped()), shown_seconds(verdict.seconds)});
    } else {
      table.add({replay.id, replay.state, units, "-", "-", "-", "-", "-"});
    }
    if (!replay.failure.empty())
      failures += "replay " + replay.id + ": " + core::printable(replay.failure) + "\n";
  }
  return table.empty() ? "" : "\n" + table.text() + failures;
}

std::string text_of(const Shown& shown) {
  std::string out = head_text(shown) + loops_text(shown) + blocks_text(shown) + replays_text(shown);
  std::string remarks;
  for (const auto& line : shown.suggestions) remarks += "hint: " + line + "\n";
  for (const auto& line : describe(shown.unheld)) remarks += "hint: " + line + "\n";
  for (const auto& line : shown.manifest.unresolved) {
    remarks +=
        "warning: the source " + line + " was not found at record; what it may touch executes in a replay\n";
  }
  for (const auto& source : shown.manifest.sources) {
    if (source.newer) remarks += "warning: " + source.path + " was changed after the program was built\n";
  }
  for (const auto& line : shown.manifest.warnings) remarks += "warning: " + core::printable(line) + "\n";
  return out + (remarks.empty() ? "" : "\n" + remarks);
}

std::string policy_text(const Shown& shown) {
  std::string sentences;
  for (const auto& last : results::explain_last(shown.manifest, shown.timeline))
    sentences += last.sentence + "\n";
  if (sentences.empty()) return "no block ended in this run: nothing was decided\n";
  return results::policy_table(shown.manifest, shown.timeline) + "\n" + sentences;
}

void show(const Flags& flags) {
  const auto slash = flags.run.find('/');
  const core::RunDir run = store_of(flags.store).find(flags.run.substr(0, slash));
  if (slash != std::string::npos) {
    show_replay(run, flags.run.substr(slash + 1), flags.json);
    return;
  }
  const Shown shown = read_run(run);
  if (flags.json) {
    print_json(json_of(shown, flags.policy));
  } else {
    print(flags.policy ? policy_text(shown) : text_of(shown));
  }
}

}  // namespace

void add_show(CLI::App& app, Outcome& /*outcome*/) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("show", "Show one run, or one replay: flor show RUN[/REPLAY]");
  command
      ->add_option("run", flags->run, "a run (its id, its name, or the beginning of its id), or RUN/REPLAY")
      ->required();
  command->add_flag(
      "--policy", flags->policy,
      "list every decision whether to take a checkpoint, and explain the last one of each kind");
  command->add_flag("--json", flags->json, "one JSON object");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags] { show(*flags); });
}

}  // namespace flor::commands
