#include "dashboard/data/work_seen.h"

#include <functional>
#include <utility>

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

namespace {

// Returns a copy of a worker without the first units, which may be a million.
Json rest_of_worker(const Json& worker, const std::vector<std::size_t>* sent) {
  const Json& units = worker.at("units");
  std::size_t from = 0;
  while (sent != nullptr && from < sent->size() && from < units.size() &&
         (*sent)[from] == std::hash<Json>{}(units[from]))
    ++from;
  Json out = Json::object();
  for (const auto& [key, value] : worker.items()) {
    if (key != "units") out[key] = value;
  }
  Json& rest = out["units"] = Json::array();
  for (std::size_t i = from; i < units.size(); ++i) rest.push_back(units[i]);
  out["from"] = from;
  return out;
}

}  // namespace

Json rest_of(const Json& data, const WorkSeen& seen) {
  Json out = Json::object();
  for (const auto& [key, value] : data.items()) {
    if (key != "work") out[key] = value;
  }
  const Json& before = data.at("work");
  Json work = Json::object();
  for (const auto& [key, value] : before.items()) {
    if (key != "workers") work[key] = value;
  }
  Json workers = Json::array();
  for (const auto& worker : before.at("workers")) {
    const auto sent = seen.find(worker.at("worker").get_ref<const std::string&>());
    workers.push_back(rest_of_worker(worker, sent == seen.end() ? nullptr : &sent->second));
  }
  work["workers"] = std::move(workers);
  out["work"] = std::move(work);
  return out;
}

}  // namespace flor::dashboard
