#include "results/results.h"

#include <sys/stat.h>

#include <algorithm>
#include <exception>
#include <map>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/json_values.h"
#include "core/base/units_text.h"
#include "core/files/directory.h"
#include "core/files/durable.h"
#include "core/files/existence.h"
#include "core/files/shared_directory.h"
#include "core/store/proof.h"

namespace flor::results {
namespace {

using core::field;
using core::Json;
using core::fs::path;

// Rows that the attempts of a log may repeat, also where its run is named: five hundred attempts with a
// million rows each.
constexpr std::size_t most_steps = 500'000'000;
// What such a row counts where bytes are limited: it takes as long as reading so many.
constexpr std::size_t bytes_a_step = 4;
// So many of a log count nothing, one for each two of its bytes: a long training that was resumed forty times
// repeats no more, and reading these takes no longer than reading twice the bytes.
constexpr std::size_t free_steps = 10'000'000;
constexpr std::size_t bytes_a_free_step = 2;

// Reads files of rows, and the plans that say which, which may have `most` bytes in all: what is read counts,
// since a directory of another user need not list its files.
class RowFiles {
 public:
  struct File {
    std::string text;
    bool foreign = false;  // another user's?
  };
  explicit RowFiles(std::size_t most = core::any_size) : left_(most), most_(most) {}

  // Reads a file that replays do not share by links, as they do their units. With a limit throws Error where
  // it has several names: it could stand in thousands of runs and be read each time.
  File read_own(const path& from, std::size_t foreign = core::foreign_limit) {
    struct stat info = {};
    const core::Descriptor file = core::open_regular(from);
    if (left_ != core::any_size && ::fstat(file.get(), &info) == 0 && info.st_nlink > 1)
      throw core::Error(from.string() + " has several names (hard links)");
    return read(file, from, foreign);
  }

  // Throws Error where a file goes beyond the limit, and at each further one; and where another user's has
  // more than `foreign` bytes.
  File read(const path& from, std::size_t foreign = core::foreign_limit) {
    return read(core::open_regular(from), from, foreign);
  }
  // Parses a record log. Rows that the attempts of another user's log repeat count as what is read.
  RecordLog parse_log(const File& log, const std::string& name) {
    if (!log.foreign) return parse_record(log.text, name);
    const std::size_t free = std::min(log.text.size() / bytes_a_free_step, free_steps);
    const std::size_t most = std::min(left_ / bytes_a_step + free, most_steps);
    std::size_t left = most;
    const auto charge = [&] {
      if (left_ != core::any_size) left_ -= (most - left - std::min(most - left, free)) * bytes_a_step;
    };
    try {
      RecordLog out = parse_record(log.text, name, &left);
      charge();
      return out;
    } catch (const core::Error&) {
      went_beyond_ = went_beyond_ || (left == 0 && left_ != core::any_size);
      charge();
      throw;
    }
  }
  bool went_beyond() const { return went_beyond_; }
  std::size_t bytes() const { return most_ - left_; }

 private:
  File read(const core::Descriptor& file, const path& from, std::size_t foreign) {
    struct stat info = {};
    went_beyond_ = went_beyond_ || (left_ != core::any_size && ::fstat(file.get(), &info) == 0 &&
                                    static_cast<std::size_t>(info.st_size) > left_);
    File out{core::read_regular(file, from, went_beyond_ ? 0 : left_, foreign), core::is_foreign(file)};
    if (left_ == core::any_size) return out;
    // Checked before the text is parsed: many small values take far more memory than it.
    const std::size_t charged = core::charged_bytes(out.text);
    went_beyond_ = went_beyond_ || charged > left_;
    left_ -= std::min(charged, left_);
    if (went_beyond_) throw core::Error(from.string() + " holds too many values");
    return out;
  }

  std::size_t left_;
  const std::size_t most_;
  bool went_beyond_ = false;
};

UnitLog read_unit(const core::ReplayDir& replay, const core::Unit& unit, RowFiles& files) {
  const path file = replay.unit(unit.id);
  if (!core::is_there(file)) {
    throw core::Error(file.string() + " is missing: unit " + std::to_string(unit.id) +
                      " was not committed; start the replay again");
  }
  return parse_unit(files.read(file).text, unit, file.string());
}

// Reads what another execution of a unit yielded. A file that is damaged says nothing.
std::optional<UnitLog> read_another(const path& file, const core::Unit& unit) {
  try {
    return parse_unit(core::read_file(file), unit, file.string());
  } catch (const core::Error&) {
    return std::nullopt;
  }
}

// Reads the proofs, those that were executed more than once with other rows each time, without those that
// have no units, and those that no worker took.
std::vector<ProofLog> read_proofs(const core::ReplayDir& replay, const core::Plan& plan,
                                  const Extras& extras) {
  std::vector<ProofLog> out;
  const auto first = static_cast<int64_t>(plan.units.size());
  for (int64_t id = first; id < first + plan.proofs; ++id) {
    const auto proof = core::find_proof(replay, plan, id);
    const auto error = extras.proof_errors.find(id);
    const bool failed = error != extras.proof_errors.end();
    if (proof ? proof->nothing() : !failed) continue;
    ProofLog log{proof.value_or(core::Proof{id}), std::nullopt, failed ? error->second : ""};
    const path file = replay.proof_rows(id);
    if (proof && core::is_there(file)) {
      log.log = parse_unit(core::read_file(file), core::unit_of(plan, *proof), file.string());
      log.error.clear();  // an earlier try failed, and a later one did not
    }
    out.push_back(std::move(log));
  }
  for (const auto& [id, file] : replay.all_again()) {
    const auto proof = id < first ? std::nullopt : core::find_proof(replay, plan, id);
    if (!proof || proof->nothing()) continue;
    if (auto log = read_another(file, core::unit_of(plan, *proof)))
      out.push_back({*proof, std::move(log), ""});
  }
  return out;
}

// Reads what further executions of units yielded.
std::vector<UnitLog> read_again(const core::ReplayDir& replay, const core::Plan& plan) {
  std::vector<UnitLog> out;
  for (const auto& [id, file] : replay.all_again()) {
    if (!plan.selected.contains(id)) continue;
    if (auto log = read_another(file, plan.units[static_cast<std::size_t>(id)]))
      out.push_back(std::move(*log));
  }
  return out;
}

std::vector<UnitLog> read_selected(const core::ReplayDir& replay, const core::Plan& plan) {
  std::vector<UnitLog> units;
  RowFiles files;
  for (const int64_t id : plan.selected.ids()) {
    units.push_back(read_unit(replay, plan.units[static_cast<std::size_t>(id)], files));
  }
  return units;
}

// Reads what the workers wrote about themselves. Ignores a file that cannot be read.
void add_workers(const core::ReplayDir& replay, Extras& extras) {
  std::vector<path> files;
  std::error_code ignored;
  for (const auto& [file, is_link] : core::entries_of(replay.workers(), ignored)) {
    if (file.extension() == ".json") files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  const bool name_workers = extras.workers.empty();
  auto warn = [&](const std::string& line) {
    auto& all = extras.warnings;
    if (!line.empty() && std::find(all.begin(), all.end(), line) == all.end()) all.push_back(line);
  };
  for (const auto& file : files) {
    const Json json = core::parse_json(core::read_file(file));
    if (!json.is_object()) continue;
    for (const auto& line : field<std::vector<std::string>>(json, "warnings", {})) warn(line);
    const auto refused = field<std::string>(json, "refused", "");
    warn(refused);
    auto environment = field<std::map<std::string, std::string>>(json, "environment", {});
    // A refused worker replayed nothing, so its environment explains nothing.
    if (!environment.empty() && refused.empty()) extras.environments.push_back(std::move(environment));
    if (!name_workers) continue;
    Json worker = {{"worker", field<std::string>(json, "worker", file.stem().string())}};
    for (const char* key : {"node", "gpu", "job", "task"}) {
      if (json.contains(key)) worker[key] = json[key];
    }
    extras.workers.push_back(std::move(worker));
  }
}

std::string text_of(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

RecordLog read_record_of(const core::RunDir& run, RowFiles& files) {
  if (!core::is_there(run.log())) return {};
  const RowFiles::File log = files.read_own(run.log());
  return files.parse_log(log, run.log().string());
}

}  // namespace

RecordLog read_record(const core::RunDir& run) {
  RowFiles files;
  return read_record_of(run, files);
}

Verdict collect(const core::RunDir& run, const core::ReplayDir& replay, const core::Plan& plan,
                const Extras& extras) {
  std::vector<UnitLog> units = read_selected(replay, plan);
  const core::Manifest manifest = core::read_manifest_and_progress(run);
  if (const auto why = core::of_other_attempt(plan, manifest); !why.empty()) throw core::Error(why);
  RecordLog record = read_record(run);
  Extras all = extras;
  if (record.torn) all.warnings.push_back(run.log().string() + ": its last line was cut off and is left out");
  add_workers(replay, all);
  const Record recorded(std::move(record.rows), manifest);
  Verdict verdict = judge(manifest, plan, recorded, units, all, read_proofs(replay, plan, extras),
                          read_again(replay, plan));
  const Hidden hidden(plan, verdict.taken_back());
  for (auto& unit : units) hidden.strip(recorded, unit);
  core::write_durably(replay.log(), merged_log(units));
  core::write_durably(replay.verdict(), text_of(to_json(verdict)));
  return verdict;
}

namespace {

// Ranks replays that have rows of the same name, from low to high: the replay differs from the record; is not
// finished; is unproved; is identical.
int rank_of(const std::optional<Verdict>& verdict) {
  if (!verdict) return 1;
  if (verdict->judgement == Judgement::differs) return 0;
  return verdict->judgement == Judgement::identical ? 3 : 2;
}

std::optional<Verdict> verdict_if_whole(const core::ReplayDir& replay) try {
  return read_verdict(replay);
} catch (const core::Error&) {
  return std::nullopt;  // treat a damaged verdict as none
}

core::Plan read_plan(const core::ReplayDir& replay, RowFiles& files) {
  const RowFiles::File file = files.read_own(replay.plan(), core::foreign_plan_limit);
  return core::plan_from_text(file.text, replay.plan().string(), file.foreign);
}

void keep_warning(std::vector<std::string>& warnings, const std::exception& problem) {
  constexpr std::size_t most = 100;
  if (warnings.size() < most) warnings.emplace_back(problem.what());
}

std::vector<ReplayRows> read_replay_rows(const core::RunDir& run, RowFiles& files,
                                         std::vector<std::string>& warnings) {
  std::vector<std::pair<int, ReplayRows>> ranked;
  std::optional<Record> record;  // read only if rows are left out
  const int64_t attempt = core::read_manifest(run).attempt;
  for (const auto& replay : run.all_replays()) {
    if (files.went_beyond()) break;
    try {
      const core::Plan plan = read_plan(replay, files);
      if (plan.question == core::check_question || plan.attempt != attempt) continue;
      const auto verdict = verdict_if_whole(replay);
      const Hidden hidden(plan, verdict ? verdict->taken_back() : std::set<std::string>());
      if (!hidden.nothing() && !record)
        record.emplace(read_record_of(run, files).rows, core::read_manifest_and_progress(run));
      ReplayRows answer;
      answer.last_unit = plan.units.back().id;
      for (const auto& unit : plan.units) {
        if (files.went_beyond()) break;
        if (!core::is_there(replay.unit(unit.id))) continue;
        try {
          UnitLog log = read_unit(replay, unit, files);
          if (record) hidden.strip(*record, log);
          answer.units[unit.id] = std::move(log);
        } catch (const std::exception& problem) {
          keep_warning(warnings, problem);
        }
      }
      // What differs from the record completes no other answer. The text of another user's plan may be long.
      const int rank = rank_of(verdict);
      if (rank > 0 && !plan.recipe.empty()) answer.recipe = core::digest_of(plan.recipe);
      ranked.emplace_back(rank, std::move(answer));
    } catch (const std::exception& problem) {
      keep_warning(warnings, problem);
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ReplayRows> answers;
  answers.reserve(ranked.size());
  for (auto& [rank, answer] : ranked) answers.push_back(std::move(answer));
  return answers;
}

}  // namespace

std::vector<ReplayRows> read_replay_rows(const core::RunDir& run, std::vector<std::string>& warnings) {
  RowFiles files;
  return read_replay_rows(run, files, warnings);
}

namespace {

JoinedRows read_joined(const core::RunDir& run, const core::Manifest& manifest, RowFiles& files) {
  JoinedRows out;
  RecordLog record = read_record_of(run, files);
  if (record.torn) out.warnings.push_back(run.log().string() + ": its last line was cut off and is left out");
  for (const auto& row : record.rows) out.recorded.insert(row.name);
  const std::size_t before = out.warnings.size();
  const auto answers = read_replay_rows(run, files, out.warnings);
  if (files.went_beyond()) return {};
  out.has_all_replays = out.warnings.size() == before;
  out.rows = joined(manifest, std::move(record.rows), answers);
  return out;
}

}  // namespace

JoinedRows read_joined(const core::RunDir& run, const core::Manifest& manifest) {
  RowFiles files;
  return read_joined(run, manifest, files);
}

std::size_t ForeignRows::left_of_one(uid_t owner) const {
  const auto known = left_of_.find(owner);
  return known == left_of_.end() ? core::foreign_rows_of_one_user : known->second;
}

std::size_t ForeignRows::left(uid_t owner) const {
  return std::min(left_, left_of_one(owner));
}

void ForeignRows::limit(uid_t owner, std::size_t most) {
  left_of_[owner] = std::min(left_of_one(owner), most);
}

void ForeignRows::take(uid_t owner, std::size_t bytes) {
  left_of_[owner] = left_of_one(owner) - std::min(bytes, left_of_one(owner));
  left_ -= std::min(bytes, left_);
}

void ForeignRows::give_back(uid_t owner, std::size_t bytes) {
  left_of_[owner] = left_of_one(owner) + bytes;
  left_ += bytes;
}

JoinedRows read_joined(const core::RunDir& run, const core::Manifest& manifest, ForeignRows& foreign) {
  if (!manifest.foreign) return read_joined(run, manifest);
  const uid_t owner = core::directory_owner(run.path);
  const std::size_t most = std::min(foreign.left(owner), core::foreign_rows_limit);
  RowFiles files(most);
  JoinedRows out;
  std::exception_ptr problem;
  try {
    out = read_joined(run, manifest, files);
  } catch (const std::exception&) {
    problem = std::current_exception();
  }
  foreign.take(owner, files.bytes());
  out.foreign_bytes = files.bytes();
  if (files.went_beyond()) {
    if (most < core::foreign_rows_limit)
      throw ForeignRows::UsedUp("no more rows of other users' runs are read at once");
    throw ForeignRows::TooLarge(
        "its rows take more than " + core::bytes_text(most) +
        " with their values and those that its attempts repeat: no more of another user's run "
        "are read unless " +
        "it is named (flor log " + run.id() + ")");
  }
  if (problem) std::rethrow_exception(problem);
  return out;
}

std::optional<Verdict> read_verdict(const core::ReplayDir& replay) {
  if (!core::is_there(replay.verdict())) return std::nullopt;
  const Json json =
      core::parse_json(core::read_file(replay.verdict(), core::document_limit, core::foreign_document_limit));
  if (!json.is_object() || field(json, "format", 0) != 1) {
    throw core::Error(replay.verdict().string() +
                      " is damaged; `flor replay` with the same question writes it anew");
  }
  return verdict_from(json);
}

}  // namespace flor::results
