#include "dashboard/data/series.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "core/base/clock.h"
#include "core/store/manifest.h"
#include "dashboard/data/signature.h"
#include "results/results.h"
#include "results/rows/where.h"

namespace flor::dashboard {
namespace {

using core::Json;

constexpr std::size_t most_runs = 8;

// Returns the loop that has at most one of these rows in each iteration, in rising order; "" for none.
std::string loop_of(const std::vector<const results::Row*>& rows) {
  std::string loop;
  int64_t last = 0;
  for (const auto* row : rows) {
    const auto loops = results::scope_loops(row->at);
    if (loops.size() != 1) return "";
    const auto& [name, value] = loops.front();
    if (!loop.empty() && (loop != name || value <= last)) return "";
    loop = name;
    last = value;
  }
  return loop;
}

Json numbers(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double value : values) out.push_back(std::isfinite(value) ? Json(value) : Json());
  return out;
}

}  // namespace

std::vector<const results::Row*> rows_of_name(const std::vector<results::Row>& rows,
                                              const std::string& name) {
  std::vector<const results::Row*> out;
  for (const auto& row : rows)
    if (row.name == name) out.push_back(&row);
  return out;
}

Series series_of(const std::vector<results::Row>& rows, const std::string& name) {
  const auto own = rows_of_name(rows, name);
  Series out;
  out.loop = loop_of(own);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const double x = out.loop.empty() ? static_cast<double>(i)
                                      : static_cast<double>(results::scope_loops(own[i]->at).front().second);
    // A line ends where iterations have no row, and begins again behind them.
    if (!out.loop.empty() && !out.x.empty() && x > out.x.back() + 1) {
      out.x.push_back(out.x.back() + 1);
      out.y.push_back(std::nan(""));
    }
    out.x.push_back(x);
    out.y.push_back(results::number_in(*own[i]).value_or(std::nan("")));
  }
  return out;
}

Series thinned(const Series& series, double from, double to, std::size_t points) {
  const auto begin = std::lower_bound(series.x.begin(), series.x.end(), from);
  const auto end = std::upper_bound(begin, series.x.end(), to);
  const auto first = static_cast<std::size_t>(begin - series.x.begin());
  const auto count = static_cast<std::size_t>(end - begin);
  Series out{{}, {}, series.loop};
  const std::size_t parts = std::max<std::size_t>(points / 2, 1);
  const auto add = [&](std::size_t at) {
    out.x.push_back(series.x[at]);
    out.y.push_back(series.y[at]);
  };
  if (count <= parts * 2) {
    for (std::size_t i = 0; i < count; ++i) add(first + i);
    return out;
  }
  for (std::size_t part = 0; part < parts; ++part) {
    std::set<std::size_t> chosen;
    std::optional<std::size_t> low, high, gap;
    for (std::size_t i = first + part * count / parts; i < first + (part + 1) * count / parts; ++i) {
      if (!std::isfinite(series.y[i])) {
        if (!gap) gap = i;
        continue;
      }
      if (!low || series.y[i] < series.y[*low]) low = i;
      if (!high || series.y[i] > series.y[*high]) high = i;
    }
    for (const auto& at : {low, high, gap})
      if (at) chosen.insert(*at);
    for (const std::size_t at : chosen) add(at);
  }
  return out;
}

Json to_json(const Series& series) {
  return {{"x", numbers(series.x)}, {"y", numbers(series.y)}, {"loop", series.loop}};
}

Json summary_of(const std::vector<results::Row>& rows) {
  struct Known {
    const results::Row* last = nullptr;
    std::optional<double> min, max;
  };
  std::vector<std::string> names;
  std::unordered_map<std::string, Known> by_name;
  for (const auto& row : rows) {
    const auto [at, is_new] = by_name.try_emplace(row.name);
    if (is_new) names.push_back(row.name);
    Known& known = at->second;
    known.last = &row;
    const auto number = results::number_in(row);
    if (!number || std::isnan(*number)) continue;
    if (!known.min || *number < *known.min) known.min = number;
    if (!known.max || *number > *known.max) known.max = number;
  }
  const auto json_of = [](const std::optional<double>& number) { return number ? Json(*number) : Json(); };
  Json out = Json::array();
  for (const auto& name : names) {
    const Known& known = by_name.at(name);
    const bool is_plain = known.last->value.is_primitive();
    out.push_back({{"name", name},
                   {"last", is_plain ? known.last->value : Json()},
                   {"min", json_of(known.min)},
                   {"max", json_of(known.max)}});
  }
  return out;
}

std::shared_ptr<const RowCache::Rows> RowCache::kept_rows(const core::RunDir& run,
                                                          const std::string& signature) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& kept : kept_) {
    if (kept.run != run.id()) continue;
    const bool is_young = core::monotonic_seconds() - kept.read_at < 3 * kept.took;
    if (kept.signature != signature && !is_young) return nullptr;
    std::rotate(&kept, &kept + 1, kept_.data() + kept_.size());
    return kept_.back().rows;
  }
  return nullptr;
}

std::shared_ptr<const RowCache::Rows> RowCache::rows_of(const core::RunDir& run) {
  const std::string signature = signature_of(run);
  if (auto rows = kept_rows(run, signature)) return rows;
  const std::lock_guard<std::mutex> reading(reading_);
  if (auto rows = kept_rows(run, signature)) return rows;
  const double began = core::monotonic_seconds();
  auto out = std::make_shared<Rows>();
  const core::Manifest manifest = core::read_manifest_and_progress(run);
  results::JoinedRows joined = results::read_joined(run, manifest);
  out->rows = std::move(joined.rows);
  out->recorded.assign(joined.recorded.begin(), joined.recorded.end());
  out->warnings = std::move(joined.warnings);
  const std::lock_guard<std::mutex> lock(mutex_);
  kept_.erase(
      std::remove_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.run == run.id(); }),
      kept_.end());
  const double now = core::monotonic_seconds();
  kept_.push_back({run.id(), signature, out, now, now - began});
  if (kept_.size() > most_runs) kept_.erase(kept_.begin());
  return out;
}

}  // namespace flor::dashboard
