#include "dashboard/data/routes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "commands/replay/shown_run.h"
#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/base/valid_id.h"
#include "core/store/manifest.h"
#include "core/store/timeline.h"
#include "dashboard/data/decisions.h"
#include "dashboard/data/runs.h"
#include "dashboard/data/tensors.h"
#include "results/report/table.h"

namespace flor::dashboard {
namespace {

using core::Json;

constexpr std::size_t most_points = 20000;
constexpr std::size_t most_decisions = 4000;
constexpr std::size_t most_tensors = 2000;

struct NotThere : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Response json(const Json& value) {
  return {200, "application/json", core::json_text(value)};
}

bool begins_with(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0;
}

// Addresses that show the page; what it then shows is its own matter.
bool is_view(const std::string& path) {
  return path == "/" || path == "/compare" || begins_with(path, "/array/") || begins_with(path, "/run/");
}

// Splits "a/b/c".
std::vector<std::string> elements(const std::string& path) {
  std::vector<std::string> out(1);
  for (const char letter : path) {
    if (letter == '/') {
      out.emplace_back();
    } else {
      out.back() += letter;
    }
  }
  return out;
}

core::RunDir find_run(const core::Store& store, const std::string& id) {
  if (!store.has_run(id)) throw NotThere("there is no run '" + id + "'");
  return store.run(id);
}

std::string name_in(const Target& target) {
  const auto name = target.query.find("name");
  if (name == target.query.end()) throw NotThere("add ?name=NAME");
  return name->second;
}

// The version that a viewer has; "": none.
std::string have_in(const Target& target) {
  const auto have = target.query.find("have");
  return have == target.query.end() ? "" : have->second;
}

double number_or(const Target& target, const std::string& name, double fallback) {
  const auto at = target.query.find(name);
  if (at == target.query.end()) return fallback;
  const auto number = core::parse_number<double>(at->second);
  return number && !std::isnan(*number) ? *number : fallback;
}

}  // namespace

Json Routes::run(const core::RunDir& run) {
  Json out = commands::json_of(commands::read_run(run), false);
  const auto rows = rows_.rows_of(run);
  struct Name {
    std::size_t rows = 0;
    const Json* last = nullptr;
  };
  std::map<std::string, Name> names;
  for (const auto& row : rows->rows) {
    Name& name = names[row.name];
    ++name.rows;
    name.last = &row.value;
  }
  out["names"] = Json::array();
  for (const auto& [name, seen] : names) {
    const bool recorded = std::binary_search(rows->recorded.begin(), rows->recorded.end(), name);
    const std::string kind = kind_of(*seen.last);
    Json one = {{"name", name}, {"rows", seen.rows}, {"recorded", recorded}, {"kind", kind}};
    if (kind == "other") one["last"] = results::short_value(*seen.last);
    out["names"].push_back(std::move(one));
  }
  out["log_warnings"] = rows->warnings;
  out["line"] = run_line(run);
  return out;
}

Json Routes::series(const core::RunDir& run, const Target& target) {
  const std::string name = name_in(target);
  const auto rows = rows_.rows_of(run);
  const auto axis = target.query.find("axis");
  const bool is_by_time = axis != target.query.end() && axis->second == "time";
  const Series whole =
      is_by_time ? series_by_time(rows->rows, name, *times_.times_of(run)) : series_of(rows->rows, name);
  const double infinity = std::numeric_limits<double>::infinity();
  const auto points =
      static_cast<std::size_t>(std::clamp(number_or(target, "points", 2000), 2.0, double{most_points}));
  const double from = number_or(target, "from", -infinity), to = number_or(target, "to", infinity);
  const Series shown = thinned(whole, from, to, points);
  Json out = to_json(shown);
  out["name"] = name;
  out["recorded"] = std::binary_search(rows->recorded.begin(), rows->recorded.end(), name);
  // How many there are in this part.
  const auto first = std::lower_bound(whole.x.begin(), whole.x.end(), from);
  out["of"] = std::upper_bound(first, whole.x.end(), to) - first;
  return out;
}

Json Routes::summary(const core::RunDir& run) {
  const core::Manifest manifest = core::read_manifest(run);
  Json sources = Json::array();
  for (const auto& source : manifest.sources)
    sources.push_back({{"path", source.path}, {"digest", source.digest}});
  // All of them, where the list of runs leaves out what does not fit.
  return {{"names", summary_of(rows_.rows_of(run)->rows)},
          {"sources", std::move(sources)},
          {"args", manifest.args}};
}

Json Routes::tensors(const core::RunDir& run, const Target& target) {
  const auto most =
      static_cast<std::size_t>(std::clamp(number_or(target, "points", 200), 1.0, double{most_tensors}));
  return tensors_of(rows_.rows_of(run)->rows, name_in(target), most);
}

Json Routes::image(const core::RunDir& run, const Target& target) {
  const double row = number_or(target, "row", -1);
  const bool is_row = row >= 0 && row <= 1e15;
  const auto found =
      is_row ? image_of(run, rows_.rows_of(run)->rows, name_in(target), static_cast<std::size_t>(row))
             : std::nullopt;
  if (!found) throw NotThere("there is no such image, or it is another user's");
  return *found;
}

Response Routes::data(const std::string& path, const Target& target) {
  const auto parts = elements(path);
  if (parts[0] != "runs" || parts.size() < 2) throw NotThere("there is nothing here");
  const core::RunDir found = find_run(store_, parts[1]);
  if (parts.size() == 2) return json(run(found));
  if (parts.size() == 3 && parts[2] == "series") return json(series(found, target));
  if (parts.size() == 3 && parts[2] == "summary") return json(summary(found));
  if (parts.size() == 3 && parts[2] == "tensors") return json(tensors(found, target));
  if (parts.size() == 3 && parts[2] == "image") return json(image(found, target));
  if (parts.size() == 3 && parts[2] == "decisions")
    return json(decisions_of(core::read_timeline(found.timeline()), most_decisions));
  if (parts.size() == 4 && parts[2] == "replays" && core::is_valid_id(parts[3]) &&
      core::fs::exists(found.replay(parts[3]).plan()))
    return {200, "application/json", *replays_.text_of(found, parts[3], have_in(target))};
  throw NotThere("there is nothing here");
}

Response Routes::answer(const Request& request) {
  const std::string& path = request.target.path;
  if (path == "/events") {
    Response out;
    out.is_stream = true;
    return out;
  }
  if (const PageFile* file = page_file(is_view(path) ? "/page/index.html" : path))
    return {200, file->type, std::string(file->text)};
  try {
    const std::string data_root = "/data/";
    if (begins_with(path, data_root)) return data(path.substr(data_root.size()), request.target);
    throw NotThere("there is nothing here");
  } catch (const NotThere& problem) {
    return {404, "text/plain; charset=utf-8", std::string(problem.what()) + "\n"};
  }
}

}  // namespace flor::dashboard
