#include "dashboard/data/work_seen.h"

#include <functional>

namespace flor::dashboard {

using core::Json;

WorkSeen seen_of(const Json& work) {
  WorkSeen out;
  for (const auto& worker : work.at("workers")) {
    auto& units = out[worker.at("worker").get_ref<const std::string&>()];
    for (const auto& unit : worker.at("units")) units.push_back(std::hash<Json>{}(unit));
  }
  return out;
}

Json rest_of(Json data, const WorkSeen& seen) {
  for (auto& worker : data.at("work").at("workers")) {
    Json& units = worker.at("units");
    const auto sent = seen.find(worker.at("worker").get_ref<const std::string&>());
    std::size_t from = 0;
    if (sent != seen.end()) {
      while (from < sent->second.size() && from < units.size() &&
             sent->second[from] == std::hash<Json>{}(units[from]))
        ++from;
    }
    units.erase(units.begin(), units.begin() + static_cast<std::ptrdiff_t>(from));
    worker["from"] = from;
  }
  return data;
}

}  // namespace flor::dashboard
