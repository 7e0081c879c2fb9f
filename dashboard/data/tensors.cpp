#include "dashboard/data/tensors.h"

#include <algorithm>

#include "core/events/logged_image.h"
#include "core/store/generators.h"
#include "dashboard/data/series.h"

namespace flor::dashboard {
namespace {

using core::Json;

Json entry_of(const results::Row& row, std::size_t number) {
  Json out = {{"row", number}, {"at", row.at}};
  if (!row.value.is_object()) return out;
  for (const char* part : {"width", "height", "min", "max", "mean", "histogram"}) {
    const auto at = row.value.find(part);
    if (at != row.value.end()) out[part] = *at;
  }
  return out;
}

}  // namespace

const char* kind_of(const Json& value) {
  if (core::has_image(value)) return "image";
  if (value.is_object() && value.contains("min") && value.contains("max")) return "spread";
  const bool is_line = value.is_number() || value.is_boolean() || value == "NaN" || value == "Infinity" ||
                       value == "-Infinity";
  return is_line ? "numbers" : "other";
}

Json tensors_of(const std::vector<results::Row>& rows, const std::string& name, std::size_t most) {
  const auto own = rows_of_name(rows, name);
  const std::size_t stride = std::max<std::size_t>((own.size() + most - 1) / most, 1);
  Json out = Json::array();
  for (std::size_t i = 0; i < own.size(); ++i)
    if (i % stride == 0 || i + 1 == own.size()) out.push_back(entry_of(*own[i], i));
  return {{"rows", std::move(out)}, {"of", own.size()}};
}

std::optional<Json> image_of(const core::RunDir& run, const std::vector<results::Row>& rows,
                             const std::string& name, std::size_t number) {
  const auto own = rows_of_name(rows, name);
  if (number >= own.size()) return std::nullopt;
  const auto png = core::png_of(run.path, own[number]->value);
  if (!png) return std::nullopt;
  return Json{{"png", "data:image/png;base64," + core::base64(*png)}};
}

}  // namespace flor::dashboard
