#include "dashboard/data/runs.h"

#include <algorithm>
#include <set>

#include "core/base/printable.h"
#include "core/checkpoint/listing.h"
#include "core/files/json_lines.h"
#include "core/store/manifest.h"
#include "dashboard/data/signature.h"
#include "results/report/summary.h"
#include "results/rows/rows.h"
#include "results/rows/where.h"

namespace flor::dashboard {
namespace {

using core::Json;

// Bytes at the end of a log in which the last values are looked for.
constexpr std::size_t tail = 65536;
constexpr std::size_t most_values = 8;
// Seconds between two looks at whether the process of a recording lives.
constexpr double check_every = 10;
// Where nothing has changed for so many seconds, files are looked at only this often.
// Motivation: a look takes some ten requests of a file server, and a store has thousands of old runs.
constexpr double quiet_after = 10, quiet_every = 3;

// Bytes of a text, of the command and of all arguments in a line. Another user may have written a manifest of
// megabytes, and each viewer gets every line.
constexpr std::size_t most_text = 128;
constexpr std::size_t most_command = 4096;
constexpr std::size_t most_arguments = 16384;

std::string brief(const std::string& text) {
  return core::shortened(text, most_text);
}

// Returns at most `most` bytes of the text, as JSON writes it: a control character takes six of them.
std::string fitting(const std::string& text, std::size_t most) {
  const std::string out = core::shortened(text, most);
  return core::json_text(out).size() <= most + 2 ? out : core::shortened(text, most / 6);
}

Json brief_command(const std::vector<std::string>& command) {
  Json out = Json::array();
  std::size_t left = most_command;
  for (const auto& word : command) {
    if (left < most_text) break;
    const std::string text = fitting(word, left);
    out.push_back(text);
    left -= std::min(left, core::json_text(text).size());
  }
  return out;
}

Json brief_arguments(const std::map<std::string, std::string>& arguments) {
  Json out = Json::object();
  std::size_t left = most_arguments;
  for (const auto& [name, value] : arguments) {
    const std::string text = fitting(value, most_command);
    const std::size_t size = core::json_text(name).size() + core::json_text(text).size();
    if (size > left) break;
    left -= size;
    out[name] = text;
  }
  return out;
}

// The last number of each name, the latest name first.
Json last_values(const core::RunDir& run) {
  Json out = Json::object();
  const std::string text = core::last_lines(run.log(), tail);
  for (std::size_t end = text.size(); end > 0 && out.size() < most_values;) {
    const std::size_t before = end > 1 ? text.rfind('\n', end - 2) : std::string::npos;
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    const Json row = core::parse_json(std::string_view(text).substr(begin, end - begin - 1));
    end = begin;
    if (!row.is_object() || row.contains("@event")) continue;
    try {
      const results::Row parsed = results::row_from(row, run.id());
      const auto number = results::number_in(parsed);
      // json_text() writes NaN and infinities as strings.
      if (number && !out.contains(brief(parsed.name))) out[brief(parsed.name)] = *number;
    } catch (const std::exception&) {
      // Leaves out a damaged line. The page of the run reports it.
    }
  }
  return out;
}

Json line_of(const core::RunDir& run, const std::string& status) {
  const core::Manifest m = core::read_manifest_and_progress(run);
  const core::RecordedLoop* loop = m.main_loop();
  const auto files = core::checkpoint_files(run);
  int64_t of = loop == nullptr ? 0 : (loop->range ? loop->end - loop->begin : loop->end);
  if (loop != nullptr && loop->ended == core::LoopEnd::exhausted) of = loop->iterations;
  return {{"id", run.id()},
          {"name", brief(m.name)},
          {"status", status.empty() ? brief(results::status_of(run, m)) : status},
          {"started", m.started},
          {"finished", m.finished ? Json(*m.finished) : Json()},
          {"user", brief(m.user)},
          {"host", brief(m.host)},
          {"job", brief(m.slurm_job)},
          {"array", brief(m.slurm_array)},
          {"task", m.slurm_task},
          {"command", brief_command(m.command)},
          {"args", brief_arguments(m.args)},
          {"loop", loop == nullptr ? "" : brief(loop->name)},
          {"done", loop == nullptr ? 0 : loop->iterations},
          {"of", of},
          {"seconds", loop == nullptr ? 0 : loop->seconds},
          {"overhead", m.overhead ? Json(*m.overhead) : Json()},
          {"epsilon", m.epsilon},
          {"every", m.every},
          {"checkpoints", files.files.size()},
          {"bytes", files.bytes},
          {"replays", run.all_replays().size()},
          {"warnings", m.warnings.size()},
          {"values", last_values(run)}};
}

// The owner may put anything in the place of a manifest, at any time.
bool is_being_recorded(const core::RunDir& run) {
  try {
    return core::read_manifest(run).status == "recording";
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

Json run_line(const core::RunDir& run, const std::string& status) {
  try {
    return line_of(run, status);
  } catch (const std::exception& problem) {
    return {{"id", run.id()}, {"name", ""}, {"status", "unreadable"}, {"problem", problem.what()}};
  }
}

bool Runs::look(const core::RunDir& run, Seen& seen, double now) {
  const std::string status = core::field<std::string>(seen.json, "status", "");
  const bool may_live = status == "recording" || status == "unknown";
  const bool is_quiet = !may_live && now - seen.changed >= quiet_after && !seen.signature.empty();
  if (is_quiet && now - seen.looked < quiet_every) return false;
  seen.looked = now;
  // A recording that is killed changes no file.
  const bool is_due = may_live && now - seen.checked >= check_every;
  auto [recording, signature] = signatures_of(run);
  if (signature == seen.signature && !is_due) return false;
  // A replay that goes on changes no line, but what pages of the run show.
  if (recording != seen.recording || is_due) {
    const bool is_known = status == "recording" && !is_due && is_being_recorded(run);
    if (!is_known) seen.checked = now;
    Json line = run_line(run, is_known ? status : "");
    if (line == seen.json && signature == seen.signature) return false;
    seen.json = std::move(line);
    seen.text = core::json_text(seen.json);
  }
  if (signature != seen.signature) seen.changed = now;
  seen.recording = std::move(recording);
  seen.signature = std::move(signature);
  return true;
}

Json Runs::refresh() {
  Json changed = Json::array();
  Json removed = Json::array();
  std::set<std::string> present;
  const double now = now_();
  for (const auto& run : store_.runs()) {
    present.insert(run.id());
    Seen& seen = runs_[run.id()];
    if (look(run, seen, now)) changed.push_back(seen.json);
  }
  for (auto at = runs_.begin(); at != runs_.end();) {
    if (present.count(at->first) == 0) {
      removed.push_back(at->first);
      at = runs_.erase(at);
    } else {
      ++at;
    }
  }
  if (changed.empty() && removed.empty()) return {};
  return {{"changed", std::move(changed)}, {"removed", std::move(removed)}};
}

Json Runs::snapshot() const {
  Json runs = Json::array();
  for (auto at = runs_.rbegin(); at != runs_.rend(); ++at) runs.push_back(at->second.json);
  return {{"store", store_.path().string()}, {"runs", std::move(runs)}};
}

std::string Runs::snapshot_text() const {
  std::string out = "{\"store\":" + core::json_text(store_.path().string()) + ",\"runs\":[";
  for (auto at = runs_.rbegin(); at != runs_.rend(); ++at)
    out += (at == runs_.rbegin() ? "" : ",") + at->second.text;
  return out + "]}";
}

}  // namespace flor::dashboard
