#include "commands/log/run_choice.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "commands/base/output.h"
#include "commands/log/foreign_share.h"
#include "core/base/error.h"
#include "results/report/summary.h"
#include "results/rows/run_condition.h"

namespace flor::commands {
namespace {

using results::WrittenCondition;

// A run that may be chosen. Its rows are read when they are asked for.
class Candidate {
 public:
  // `foreign`: null where the user named the run.
  Candidate(core::RunDir run, ForeignShare* foreign)
      : run_(std::move(run)), manifest_(core::read_manifest_and_progress(run_)), foreign_(foreign) {}

  const core::Manifest& manifest() const { return manifest_; }

  // Returns what a condition of this name judges; std::nullopt if the run has nothing of that name.
  std::optional<std::string> value(const std::string& name) {
    if (auto argument = results::argument(manifest_, name)) return argument;
    if (name == "status") return results::status_of(run_, manifest_);
    const auto& rows = joined().rows;
    const auto last =
        std::find_if(rows.rbegin(), rows.rend(), [&](const results::Row& row) { return row.name == name; });
    if (last == rows.rend()) return std::nullopt;
    const core::Json& value = last->value;
    return value.is_string() ? value.get<std::string>() : core::json_text(value);
  }

  const results::JoinedRows& joined() {
    if (!joined_) {
      joined_ = foreign_ == nullptr ? results::read_joined(run_, manifest_)
                                    : results::read_joined(run_, manifest_, foreign_->rows());
      for (const auto& warning : joined_->warnings) print_error("warning: " + warning);
    }
    return *joined_;
  }

  ChosenRun chosen(const RowsAsked& asked) {
    joined();
    ChosenRun out{run_, std::move(manifest_), "", {}, std::move(joined_->recorded), {}, {}, ""};
    for (const auto& row : joined_->rows) out.logged.insert(row.name);
    out.covered = results::coverage(joined_->rows, out.manifest, asked.names);
    try {
      out.rows = asked.choose(std::move(joined_->rows), out.manifest);
    } catch (const core::UsageError& problem) {
      out.refused = problem.what();
    }
    if (out.manifest.foreign && foreign_ != nullptr) foreign_->take(out, arguments_of(out, asked));
    return out;
  }

 private:
  // Those that take a column.
  static std::set<std::string> arguments_of(const ChosenRun& run, const RowsAsked& asked) {
    std::set<std::string> out;
    for (const auto& [name, text] : run.manifest.args) {
      if (asked.names.empty()) out.insert(name);
    }
    return out;
  }

  core::RunDir run_;
  core::Manifest manifest_;
  ForeignShare* const foreign_;
  std::optional<results::JoinedRows> joined_;
};

// Keeps the names that no run had, so that a typo does not look like an empty answer.
class Judge {
 public:
  explicit Judge(std::vector<WrittenCondition> conditions) : conditions_(std::move(conditions)) {}

  bool holds(Candidate& run) {
    for (const auto& [name, text] : run.manifest().args) arguments_.insert(name);
    bool all = true;
    for (const auto& condition : conditions_) {
      const auto value = run.value(condition.name);
      if (value) found_.insert(condition.name);
      all = all && value && results::holds(condition, *value);
    }
    return all;
  }

  void require_names() const {
    for (const auto& condition : conditions_) {
      if (found_.count(condition.name) != 0) continue;
      std::string known;
      for (const auto& name : arguments_) known += (known.empty() ? "" : ", ") + name;
      throw core::UsageError(
          "--runs: no run has an argument '" + condition.name +
          "' or logged a value of that name; the arguments are: " + (known.empty() ? "none" : known));
    }
  }

 private:
  const std::vector<WrittenCondition> conditions_;
  std::set<std::string> found_, arguments_;
};

std::vector<ChosenRun> runs_where(const core::Store& store, std::vector<WrittenCondition> conditions,
                                  const RowsAsked& asked) {
  Judge judge(std::move(conditions));
  ForeignShare foreign;
  std::vector<ChosenRun> out;
  // The newest first: where there is too much of other users, the oldest runs are left out.
  const auto runs = store.runs();
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    try {
      Candidate candidate(*run, &foreign);
      if (judge.holds(candidate)) out.push_back(candidate.chosen(asked));
    } catch (const results::ForeignRows::UsedUp&) {
      foreign.leave_out();
    } catch (const std::exception& problem) {
      print_error("warning: run " + run->id() + " is left out: " + problem.what());
    }
  }
  foreign.tell();
  judge.require_names();
  std::reverse(out.begin(), out.end());
  // Ids hold the start only to the second.
  std::stable_sort(out.begin(), out.end(), [](const ChosenRun& a, const ChosenRun& b) {
    return a.manifest.started < b.manifest.started;
  });
  return out;
}

std::vector<ChosenRun> listed_runs(const core::Store& store, const std::string& list,
                                   const RowsAsked& asked) {
  std::vector<ChosenRun> out;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) {
      Candidate run(store.find(list.substr(begin, end - begin)), nullptr);
      out.push_back(run.chosen(asked));
    }
    begin = end + 1;
  }
  return out;
}

}  // namespace

std::vector<ChosenRun> choose_runs(const core::Store& store, const std::string& choice,
                                   const RowsAsked& asked) {
  std::vector<ChosenRun> out;
  if (choice == "all") {
    out = runs_where(store, {}, asked);
  } else if (choice.find_first_of("<>=") == std::string::npos) {
    out = listed_runs(store, choice, asked);
  } else {
    out = runs_where(store, results::parse_run_conditions(choice), asked);
  }
  if (out.empty())
    throw core::UsageError("--runs: no run in " + store.path().string() + " matches '" + choice + "'");
  std::map<std::string, int> labels;
  for (const auto& one : out) ++labels[one.manifest.name];
  for (auto& one : out) {
    const bool is_unique = !one.manifest.name.empty() && labels[one.manifest.name] == 1;
    one.shown = is_unique ? one.manifest.name : one.run.id();
  }
  return out;
}

}  // namespace flor::commands
