// flor gc: removes whole runs, thins checkpoints, and removes what killed processes left behind.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <set>

#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/cli/commands.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/units_text.h"
#include "core/config/values.h"
#include "core/store/manifest.h"
#include "gc/acting_as.h"
#include "gc/leftovers.h"
#include "gc/runs.h"
#include "gc/thin.h"

namespace flor::commands {
namespace {

namespace fs = core::fs;
using core::Json;

struct Flags {
  std::vector<std::string> runs, statuses;
  std::string store, older_than, max_size, keep;
  bool dry_run = false, yes = false, json = false;
};

struct Thinned {
  core::RunDir run;
  core::Thinning removal;
  std::uint64_t bytes = 0;
  std::size_t files() const { return removal.files.size() + removal.orphans.size(); }
};

// What will be removed. `runs` also has the runs that cannot be removed because they are in use.
struct Proposal {
  gc::Choice runs;
  std::vector<Thinned> thinned;
  std::vector<gc::Leftover> leftovers;

  bool empty() const { return runs.remove.empty() && thinned.empty() && leftovers.empty(); }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& run : runs.remove) sum += run.bytes;
    for (const auto& run : thinned) sum += run.bytes;
    for (const auto& leftover : leftovers) sum += leftover.bytes;
    return sum;
  }
};

gc::Criteria criteria_of(const Flags& flags) {
  gc::Criteria out;
  if (!flags.older_than.empty()) {
    out.older_than = core::parse_duration(flags.older_than);
    if (!out.older_than)
      throw core::UsageError("--older-than takes a time such as 30d (s, m, h or d), not '" +
                             flags.older_than + "'");
  }
  if (!flags.max_size.empty()) {
    out.max_size = core::parse_bytes(flags.max_size);
    if (!out.max_size)
      throw core::UsageError("--max-size takes bytes, or a number with k, M, G or T such as 100G, not '" +
                             flags.max_size + "'");
  }
  out.statuses.insert(flags.statuses.begin(), flags.statuses.end());
  return out;
}

int64_t keep_of(const Flags& flags, const gc::Criteria& criteria) {
  const auto keep = core::keep_from(flags.keep.empty() ? "all" : flags.keep);
  if (!keep)
    throw core::UsageError("--keep takes all or a number of checkpoints from 1, not '" + flags.keep + "'");
  if (*keep > 0 && flags.runs.empty())
    throw core::UsageError("--keep thins the runs that are named: flor gc --keep " + flags.keep + " RUN …");
  if (*keep > 0 && criteria.any()) {
    throw core::UsageError(
        "--keep thins runs, --older-than, --max-size and --status remove whole ones; give one or the other");
  }
  return *keep;
}

std::vector<core::RunDir> named_runs(const core::Store& store, const Flags& flags) {
  std::vector<core::RunDir> out;
  for (const auto& name : flags.runs) {
    const core::RunDir run = store.find(name);
    if (!gc::is_ours(run.path))
      throw core::UsageError("run " + run.id() + " is another user's; only they may remove anything of it");
    const bool again = std::any_of(out.begin(), out.end(),
                                   [&](const core::RunDir& other) { return other.path == run.path; });
    if (!again) out.push_back(run);
  }
  return out;
}

core::Thinning removal_of(const core::RunDir& run, const gc::Inventory& inventory, int64_t keep) {
  return core::removable(inventory.stored, keep, core::read_manifest_and_progress(run).loop_names());
}

Thinned thinned(const core::RunDir& run, int64_t keep) {
  const gc::ActingAs owner(run.path);
  Thinned out{run, removal_of(run, gc::inventory_of(run), keep), 0};
  for (const auto* files : {&out.removal.files, &out.removal.orphans}) {
    for (const auto& file : *files) out.bytes += fs::file_size(run.path / file);
  }
  return out;
}

// Reports a failure and goes on: a run that cannot be read must not stop the work on the others.
template <class Look>
void look_at(const Look& look) {
  try {
    look();
  } catch (const std::exception& problem) {
    print_error(problem.what());
  }
}

bool is_in(const std::vector<gc::RunFacts>& runs, const std::string& id) {
  return std::any_of(runs.begin(), runs.end(), [&](const gc::RunFacts& run) { return run.id == id; });
}

void propose_runs(const std::vector<core::RunDir>& ours, const std::vector<core::RunDir>& named,
                  const gc::Criteria& criteria, double now, Proposal& out) {
  if (!criteria.any()) return;
  std::set<std::string> among;
  for (const auto& run : named) among.insert(run.id());
  std::vector<gc::RunFacts> facts;
  facts.reserve(ours.size());
  for (const auto& run : ours) look_at([&] { facts.push_back(gc::facts_of(run)); });
  out.runs = gc::choose(facts, among, criteria, now);
}

void propose_thinning(const core::RunDir& run, int64_t keep, Proposal& out) {
  if (!gc::is_ours(run.path)) return;  // the run has just gone
  const gc::ActingAs owner(run.path);
  if (const std::string busy = gc::busy_with(run); !busy.empty()) {
    out.runs.busy.push_back({run.id(), "", 0, 0, busy, 0, ""});
  } else if (Thinned one = thinned(run, keep); one.files() > 0) {
    out.thinned.push_back(std::move(one));
  }
}

// Returns true if --keep already removes this file.
bool is_thinned(const Proposal& proposal, const gc::Leftover& leftover) {
  return std::any_of(proposal.thinned.begin(), proposal.thinned.end(), [&](const Thinned& one) {
    const auto& orphans = one.removal.orphans;
    return std::any_of(orphans.begin(), orphans.end(),
                       [&](const std::string& file) { return one.run.path / file == leftover.path; });
  });
}

void propose_leftovers(const core::RunDir& run, double now, Proposal& out) {
  if (is_in(out.runs.remove, run.id())) return;
  if (const std::string closed = gc::why_closed(run); !closed.empty()) {
    if (!is_in(out.runs.busy, run.id())) out.runs.busy.push_back({run.id(), "", 0, 0, closed, 0, ""});
    return;
  }
  for (auto& leftover : gc::leftovers_of(run, now)) {
    if (!is_thinned(out, leftover)) out.leftovers.push_back(std::move(leftover));
  }
}

Proposal propose(const core::Store& store, const std::vector<core::RunDir>& named,
                 const gc::Criteria& criteria, int64_t keep) {
  const double now = core::wall_seconds();
  Proposal out;
  const std::vector<core::RunDir> ours = gc::runs_of_ours(store);
  propose_runs(ours, named, criteria, now, out);
  if (keep != 0) {
    for (const auto& run : named) look_at([&] { propose_thinning(run, keep, out); });
  }
  out.leftovers = gc::leftovers_of(store, now);
  for (const auto& run : named.empty() ? ours : named) look_at([&] { propose_leftovers(run, now, out); });
  return out;
}

std::string text_of(const Proposal& proposal) {
  std::string out;
  for (const auto& run : proposal.runs.remove) {
    out += "run " + run.id + ": " + run.status + ", " + core::bytes_text(run.bytes);
    if (!run.beyond.empty()) out += "; checkpoints in " + run.beyond + " have to be removed there";
    out += "\n";
  }
  for (const auto& one : proposal.thinned) {
    out += "run " + one.run.id() + ": " + counted(one.files(), "checkpoint") + ", " +
           core::bytes_text(one.bytes) + "\n";
  }
  for (const auto& leftover : proposal.leftovers)
    out += leftover.path.string() + ": " + leftover.what + ", " + core::bytes_text(leftover.bytes) + "\n";
  for (const auto& run : proposal.runs.busy) out += "not run " + run.id + ": " + run.busy + "\n";
  return out;
}

Json json_of(const core::Store& store, const Proposal& proposal, bool removed) {
  Json runs = Json::array();
  for (const auto& run : proposal.runs.remove)
    runs.push_back({{"id", run.id}, {"status", run.status}, {"bytes", run.bytes}, {"beyond", run.beyond}});
  Json thinned = Json::array();
  for (const auto& one : proposal.thinned) {
    std::vector<std::string> files = one.removal.files;
    files.insert(files.end(), one.removal.orphans.begin(), one.removal.orphans.end());
    thinned.push_back({{"id", one.run.id()}, {"files", files}, {"bytes", one.bytes}});
  }
  Json leftovers = Json::array();
  for (const auto& one : proposal.leftovers)
    leftovers.push_back({{"path", one.path.string()}, {"what", one.what}, {"bytes", one.bytes}});
  Json busy = Json::array();
  for (const auto& run : proposal.runs.busy) busy.push_back({{"id", run.id}, {"why", run.busy}});
  return {{"store", store.path().string()},
          {"removed", removed},
          {"bytes", proposal.bytes()},
          {"runs", runs},
          {"thinned", thinned},
          {"leftovers", leftovers},
          {"busy", busy}};
}

// Returns true if the user agrees: by --yes, or by an answer on the terminal. Throws core::UsageError if
// there is no terminal.
bool allowed(const Flags& flags, const Proposal& proposal) {
  if (flags.yes) return true;
  const std::string size = core::bytes_text(proposal.bytes());
  if (::isatty(STDIN_FILENO) == 0) {
    throw core::UsageError("flor gc would remove " + size + "; give --yes to let it, --dry-run to see what");
  }
  std::cerr << "remove " << size << "? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

struct Removed {
  std::uint64_t bytes = 0;
  bool all = true;
};

// Thins the run as it is now: it may have been recorded further since it was listed.
void thin(const core::RunDir& run, int64_t keep) {
  const gc::ActingAs owner(run.path);
  const gc::Claim held = gc::claim(run);
  const gc::Inventory inventory = gc::inventory_of(run);
  gc::thin(run, inventory, removal_of(run, inventory, keep));
}

// Removes everything. Reports a failure and goes on.
Removed remove(const core::Store& store, const Proposal& proposal, int64_t keep) {
  Removed out;
  const auto attempt = [&out](std::uint64_t bytes, const auto& removal) {
    try {
      removal();
      out.bytes += bytes;
    } catch (const std::exception& problem) {
      print_error(problem.what());
      out.all = false;
    }
  };
  for (const auto& run : proposal.runs.remove) attempt(run.bytes, [&] { gc::remove_run(store, run); });
  for (const auto& one : proposal.thinned) attempt(one.bytes, [&] { thin(one.run, keep); });
  std::map<std::string, std::vector<gc::Leftover>> of_runs;
  for (const auto& leftover : proposal.leftovers) {
    if (leftover.run.empty()) {
      attempt(leftover.bytes, [&] { gc::remove_leftover(store, leftover, core::wall_seconds()); });
    } else {
      of_runs[leftover.run].push_back(leftover);
    }
  }
  for (const auto& [run, leftovers] : of_runs) {
    std::uint64_t bytes = 0;
    for (const auto& leftover : leftovers) bytes += leftover.bytes;
    attempt(bytes,
            [&, &run = run, &leftovers = leftovers] { gc::remove_leftovers(store.run(run), leftovers); });
  }
  return out;
}

void collect_garbage(const Flags& flags, Outcome& outcome) {
  const gc::Criteria criteria = criteria_of(flags);
  const int64_t keep = keep_of(flags, criteria);
  const core::Store store = store_of(flags.store);
  if (!fs::is_directory(store.path()))
    throw core::UsageError("there is no store " + store.path().string() +
                           "; --store or FLOR_STORE chooses one");
  const Proposal proposal = propose(store, named_runs(store, flags), criteria, keep);
  if (!flags.json) print(text_of(proposal));
  if (proposal.empty()) {
    flags.json ? print_json(json_of(store, proposal, false)) : print("nothing to remove\n");
    return;
  }
  const bool going = !flags.dry_run && allowed(flags, proposal);
  const Removed removed = going ? remove(store, proposal, keep) : Removed{proposal.bytes(), true};
  if (!removed.all) outcome.code = kFailed;
  if (flags.json) {
    print_json(json_of(store, proposal, going && removed.all));
  } else {
    print((going           ? "removed "
           : flags.dry_run ? "would remove "
                           : "left in place: ") +
          core::bytes_text(removed.bytes) + "\n");
  }
}

}  // namespace

void add_gc(CLI::App& app, Outcome& outcome) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("gc", "Remove old runs, old checkpoints, and what killed processes left behind");
  command->add_option("run", flags->runs, "these runs only: ids, names, or beginnings of ids");
  command->add_option(
      "--older-than", flags->older_than,
      "remove runs that ended longer ago than this: 30d (s, m, h or d). All conditions given must hold");
  command->add_option(
      "--max-size", flags->max_size,
      "remove the oldest runs until the runs of each user take at most this much: 100G (k, M, G or T)");
  command
      ->add_option("--status", flags->statuses,
                   "remove runs with one of these statuses: damaged,killed,failed,…")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"completed", "failed", "damaged", "killed", "unreadable"}));
  command->add_option("--keep", flags->keep,
                      "do not remove the named runs: keep their newest N checkpoints of each block, of the "
                      "iterations and of the steps, and the files that these need");
  command->add_flag("--dry-run", flags->dry_run, "show what would be removed; remove nothing");
  command->add_flag("--yes", flags->yes, "do not ask");
  command->add_flag("--json", flags->json, "one JSON object");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags, &outcome] { collect_garbage(*flags, outcome); });
}

}  // namespace flor::commands
