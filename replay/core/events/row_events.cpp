#include "core/events/row_events.h"

#include <algorithm>
#include <optional>

#include "core/events/logged_image.h"

namespace flor::core {
namespace {

std::string names_of(const ScopeLoops& loops) {
  return loops[0].first + '/' + loops[1].first;
}

std::optional<double> member(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number()) return std::nullopt;
  return at->get<double>();
}

std::optional<double> scalar_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  return number_in(value);
}

std::optional<Histogram> histogram_of(const Json& value) {
  const auto counts = value.find("histogram");
  const auto min = member(value, "min"), max = member(value, "max");
  if (counts == value.end() || !counts->is_array() || counts->empty() || !min || !max) return std::nullopt;
  Histogram out;
  out.min = *min;
  out.max = *max;
  for (const auto& count : *counts) {
    out.counts.push_back(count.is_number() ? count.get<double>() : 0);
    out.count += out.counts.back();
  }
  out.sum = member(value, "mean").value_or(0) * out.count;
  const double norm = member(value, "norm").value_or(0);
  out.sum_of_squares = norm * norm;
  return out;
}

}  // namespace

void EventSteps::learn(const ScopeLoops& loops) {
  if (loops.size() != 2) return;
  const auto [at, is_new] = pairs_.try_emplace(names_of(loops));
  Pair& pair = at->second;
  pair.first = is_new ? loops[0].second : std::min(pair.first, loops[0].second);
  pair.length = std::max(pair.length, loops[1].second + 1);
}

int64_t EventSteps::step_of(const ScopeLoops& loops, const std::string& name) {
  if (loops.size() == 1) return loops[0].second;
  if (loops.size() != 2) return counts_[name]++;
  const Pair& pair = pairs_[names_of(loops)];
  return (loops[0].second - pair.first) * pair.length + loops[1].second;
}

void RowEvents::add(std::string& records, const std::string& name, const Json& value, const Place& place) {
  if (const auto number = scalar_of(value)) {
    records += record(scalar_event(place, name, static_cast<float>(*number)));
    ++counts_.scalars;
  } else if (value.is_object()) {
    add_tensor(records, name, value, place);
  } else {
    ++counts_.left_out;
  }
}

void RowEvents::add_tensor(std::string& records, const std::string& name, const Json& value,
                           const Place& place) {
  bool has_any = false;
  for (const char* part : {"min", "max", "mean", "norm"}) {
    const auto number = member(value, part);
    if (!number) continue;
    records += record(scalar_event(place, name + "/" + part, static_cast<float>(*number)));
    ++counts_.scalars;
    has_any = true;
  }
  if (const auto histogram = histogram_of(value)) {
    records += record(histogram_event(place, name, *histogram));
    ++counts_.histograms;
    has_any = true;
  }
  if (add_image(records, name, value, place)) {
    ++counts_.images;
    has_any = true;
  }
  counts_.left_out += has_any ? 0 : 1;
}

bool RowEvents::add_image(std::string& records, const std::string& name, const Json& value,
                          const Place& place) const {
  const auto width = member(value, "width"), height = member(value, "height"),
             channels = member(value, "channels");
  if (!width || !height || !channels) return false;
  const auto png = png_of(directory_, value);
  if (!png) return false;  // counted as left out
  records += record(image_event(place, name, static_cast<int>(*width), static_cast<int>(*height),
                                static_cast<int>(*channels), *png));
  return true;
}

}  // namespace flor::core
