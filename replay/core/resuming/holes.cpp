#include "core/resuming/holes.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/checkpoint/kinds.h"
#include "core/checkpoint/record_index.h"
#include "core/files/file_lock.h"
#include "core/files/json_lines.h"

namespace flor::core {
namespace {

// "epoch=3" of "epoch=3/train#0/step=5".
std::string iteration_of(const std::string& at) {
  return at.substr(0, at.find('/'));
}

// The loop and the value of "epoch=3/train#0/step=5": "epoch=3/train#0/step=" and 5.
std::optional<std::pair<std::string, int64_t>> loop_at_end(const std::string& at) {
  const std::size_t sign = at.rfind('=');
  if (sign == std::string::npos || at.find('/', sign) != std::string::npos) return std::nullopt;
  const auto value = parse_number<int64_t>(std::string_view(at).substr(sign + 1));
  if (!value) return std::nullopt;
  return std::make_pair(at.substr(0, sign + 1), *value);
}

bool has_hole(const fs::path& path) {
  return for_each_line_behind_hole(path, nullptr);
}

// Throws where the log lost rows that will not be executed again.
void require_executed_again(const RunDir& run) {
  const RecordIndex index(run, GeneratorLog::none);
  const Restorable restorable(index.checkpoints());
  for_each_line_behind_hole(run.log(), [&](std::string_view line) {
    const Json row = parse_json(line);
    if (row.is_object() && restorable.has(field<std::string>(row, "@at", "")))
      throw Error(run.log().string() + " has a hole: rows in front of a checkpoint are lost");
  });
}

}  // namespace

Restorable::Restorable(const std::vector<std::string>& checkpoints) {
  for (const auto& path : checkpoints) {
    const std::size_t slash = path.rfind('/');
    const std::string kind = path.substr(slash + 1);
    if (slash == std::string::npos || (kind != iteration_kind && kind != step_kind)) {
      blocks_.insert(path);
      continue;
    }
    const std::string place = path.substr(0, slash);
    const auto iteration = loop_at_end(iteration_of(place));
    if (!iteration) continue;
    const bool is_whole = kind == iteration_kind;
    const int64_t last = is_whole ? iteration->second : iteration->second - 1;
    auto& known = iterations_.try_emplace(iteration->first, last).first->second;
    known = std::max(known, last);
    const auto step = loop_at_end(place);
    if (is_whole || !step) continue;
    auto& newest = steps_.try_emplace(iteration_of(place), *step).first->second;
    if (step->second > newest.second) newest = *step;
  }
}

bool Restorable::has(const std::string& at) const {
  const std::string here = iteration_of(at);
  const auto iteration = loop_at_end(here);
  if (!iteration) return false;
  const auto whole = iterations_.find(iteration->first);
  if (whole != iterations_.end() && iteration->second <= whole->second) return true;
  for (std::size_t end = at.find('/'); end != std::string::npos;) {
    end = at.find('/', end + 1);
    if (blocks_.count(at.substr(0, end)) != 0) return true;
  }
  const auto step = steps_.find(here);
  if (step == steps_.end()) return false;
  const auto& [loop, last] = step->second;
  if (at.compare(0, loop.size(), loop) != 0) return true;
  const std::string_view rest = std::string_view(at).substr(loop.size());
  const auto value = parse_number<int64_t>(rest.substr(0, rest.find('/')));
  return !value || *value <= last;
}

void end_at_holes(const RunDir& run, const Manifest& manifest) {
  const std::vector<fs::path> files{run.timeline(), run.generators(), run.log()};
  if (std::none_of(files.begin(), files.end(), has_hole)) return;
  if (manifest.status != "recording") throw Error(run.path.string() + " has files with holes: rows are lost");
  // Two processes may be asked to go on with the run.
  const auto lock = FileLock::try_take(run.lock());
  if (!lock) throw Error("another process records run " + run.id());
  if (has_hole(run.timeline())) {
    cut_at_hole(run.timeline(), [](std::string_view line) {
      const auto kind = field<std::string>(parse_json(line), "kind", "");
      return kind == "doubt" || kind == "removed";
    });
  }
  if (has_hole(run.generators())) cut_at_hole(run.generators());
  if (!has_hole(run.log())) return;
  if (read_manifest_and_progress(run).main_loop() != nullptr) require_executed_again(run);
  cut_at_hole(run.log());
}

}  // namespace flor::core
