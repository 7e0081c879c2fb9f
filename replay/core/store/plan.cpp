#include "core/store/plan.h"

#include "core/base/error.h"
#include "core/base/is_below.h"
#include "core/base/json_values.h"
#include "core/files/durable.h"
#include "core/files/trusted_file.h"

namespace flor::core {
namespace {

Json unit_json(const Unit& unit) {
  Json out{{"id", unit.id},           {"first", unit.first}, {"last", unit.last},
           {"entry", unit.entry},     {"cost", unit.cost},   {"skip_cost", unit.skip_cost},
           {"restore", unit.restore}, {"work", unit.work}};
  if (unit.from >= 0) out.update({{"from", unit.from}, {"step", unit.step}});
  if (unit.to >= 0) out["to"] = unit.to;
  return out;
}

Json ranges_json(const std::vector<UnitRange>& ranges) {
  Json out = Json::array();
  for (const auto& [first, end] : ranges) out.push_back({first, end});
  return out;
}

Json probe_json(const Probe& probe) {
  Json inputs = Json::array();
  for (const auto& input : probe.inputs)
    inputs.push_back(
        {{"name", input.name}, {"held", input.held}, {"why", input.why}, {"changed_by", input.changed_by}});
  return {{"name", probe.name},
          {"file", probe.file},
          {"line", probe.line},
          {"block", probe.block},
          {"founding", to_string(probe.founding)},
          {"why", probe.why},
          {"withheld", probe.withheld},
          {"inputs", inputs},
          {"volatile", probe.is_volatile},
          {"depends", probe.depends}};
}

Founding founding_from(const std::string& text) {
  for (const Founding one : {Founding::executed, Founding::held}) {
    if (text == to_string(one)) return one;
  }
  return Founding::unproved;
}

Probe probe_from(const Json& json) {
  Probe probe{field<std::string>(json, "name", ""), field<std::string>(json, "file", ""),
              field(json, "line", 0), field<std::string>(json, "block", "")};
  probe.founding = founding_from(field<std::string>(json, "founding", ""));
  probe.why = field<std::string>(json, "why", "");
  probe.withheld = field<std::string>(json, "withheld", "");
  probe.is_volatile = field(json, "volatile", false);
  probe.depends = field<std::set<std::string>>(json, "depends", {});
  for (const auto& input : field<Json>(json, "inputs", Json::array())) {
    probe.inputs.push_back({field<std::string>(input, "name", ""), field(input, "held", false),
                            field<std::string>(input, "why", ""),
                            field<std::set<std::string>>(input, "changed_by", {})});
  }
  return probe;
}

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  void require(bool fine, const char* what) const {
    if (!fine) throw Error(file_ + " is damaged: " + what + "; remove this replay and ask again");
  }

  Unit unit(const Json& json, std::size_t position) const {
    Unit unit;
    unit.id = field<int64_t>(json, "id", -1);
    unit.first = field<int64_t>(json, "first", 0);
    unit.last = field<int64_t>(json, "last", -1);
    unit.entry = field<std::string>(json, "entry", "");
    unit.cost = field(json, "cost", 0.0);
    unit.skip_cost = field(json, "skip_cost", 0.0);
    unit.restore = field(json, "restore", 0.0);
    unit.work = field(json, "work", unit.cost);
    require(unit.id == static_cast<int64_t>(position), "its units are not numbered in order");
    require(unit.first <= unit.last, "a unit ends before it begins");
    unit.from = field<int64_t>(json, "from", -1);
    unit.to = field<int64_t>(json, "to", -1);
    unit.step = field<std::string>(json, "step", "");
    require(unit.from < 0 || (!unit.entry.empty() && !unit.step.empty()),
            "a unit begins where nothing can be restored");
    require(unit.from < 0 || unit.to < 0 || unit.first < unit.last || unit.from < unit.to,
            "a unit ends before it begins");
    require(is_below(unit.entry) && is_below(unit.step), "an entry leaves the run's directory");
    return unit;
  }

  UnitRange range(const Json& json, std::size_t units) const {
    require(json.is_array() && json.size() == 2 && json[0].is_number_integer() && json[1].is_number_integer(),
            "a range is not two numbers");
    UnitRange range{json[0].get<int64_t>(), json[1].get<int64_t>()};
    require(0 <= range.first && range.first < range.second && range.second <= static_cast<int64_t>(units),
            "a range is outside of the units");
    return range;
  }

 private:
  const std::string& file_;
};

}  // namespace

const char* to_string(Founding founding) {
  switch (founding) {
    case Founding::executed:
      return "executed";
    case Founding::held:
      return "held";
    case Founding::unproved:
      break;
  }
  return "unproved";
}

bool covers_end(const Plan& plan, const Manifest& manifest) {
  return plan.covers_end && manifest.ended_behind_loop();
}

std::string of_other_attempt(const Plan& plan, const Manifest& manifest) {
  if (plan.attempt == manifest.attempt) return "";
  return "run " + manifest.id + " was resumed since replay " + plan.replay +
         " was planned, so the replay's rows say nothing of what is recorded now; start a new flor replay";
}

Json to_json(const Plan& plan) {
  Json units = Json::array();
  for (const auto& unit : plan.units) units.push_back(unit_json(unit));
  Json probes = Json::array();
  for (const auto& probe : plan.probes) probes.push_back(probe_json(probe));
  return {{"format", 1},
          {"run", plan.run},
          {"replay", plan.replay},
          {"question", plan.question},
          {"recipe", plan.recipe},
          {"attempt", plan.attempt},
          {"covers_end", plan.covers_end},
          {"command", plan.command},
          {"program", plan.program},
          {"mode", plan.complete ? "complete" : "partial"},
          {"inner", plan.inner},
          {"units", units},
          {"selected", ranges_json(plan.selected.ranges())},
          {"segments", ranges_json(plan.segments)},
          {"balance", plan.balance},
          {"copies", plan.copies},
          {"execute", {{"all", plan.execute_all}, {"blocks", plan.execute}, {"renamed", plan.renamed}}},
          {"lead_in", {{"all", plan.lead_in_all}, {"blocks", plan.lead_in}}},
          {"any_device", plan.any_device},
          {"proofs", plan.proofs},
          {"brief", plan.brief ? Json(*plan.brief) : Json()},
          {"probes", probes},
          {"names", plan.names ? Json(*plan.names) : Json()},
          {"reasons", plan.reasons},
          {"estimate",
           {{"workers", plan.workers},
            {"bound", plan.bound},
            {"makespan", plan.makespan},
            {"serial", plan.serial}}}};
}

Plan plan_from(const Json& json, const std::string& file) {
  const Reader read(file);
  read.require(json.is_object() && field(json, "format", 0) == 1, "it is no plan that this version reads");
  Plan plan;
  plan.run = field<std::string>(json, "run", "");
  plan.replay = field<std::string>(json, "replay", "");
  read.require(is_valid_id(plan.run) && is_valid_id(plan.replay), "it names no run and replay");
  plan.question = field<std::string>(json, "question", "");
  plan.recipe = field<std::string>(json, "recipe", "");
  plan.attempt = field<int64_t>(json, "attempt", 0);
  plan.covers_end = field(json, "covers_end", true);
  plan.command = field<std::vector<std::string>>(json, "command", {});
  plan.program = field<std::map<std::string, std::string>>(json, "program", {});
  plan.complete = field<std::string>(json, "mode", "") == "complete";
  plan.inner = field<std::string>(json, "inner", "");
  for (const auto& unit : field<Json>(json, "units", Json::array())) {
    plan.units.push_back(read.unit(unit, plan.units.size()));
    const Unit& read_one = plan.units.back();
    read.require((read_one.from < 0 && read_one.to < 0) || (plan.complete && !plan.inner.empty()),
                 "a unit is part of an iteration, and no loop is named");
  }
  for (const auto& selected : field<Json>(json, "selected", Json::array())) {
    const auto [first, end] = read.range(selected, plan.units.size());
    read.require(plan.selected.empty() || plan.selected.ranges().back().second < first,
                 "the selected ranges are not in order");
    for (int64_t id = first; id < end; ++id) plan.selected.add(id);
  }
  read.require(!plan.selected.empty(), "it selects nothing");
  for (const auto& segment : field<Json>(json, "segments", Json::array())) {
    plan.segments.push_back(read.range(segment, plan.units.size()));
  }
  plan.balance = field(json, "balance", true);
  plan.copies = field(json, "copies", true);
  const Json execute = field<Json>(json, "execute", Json::object());
  plan.execute_all = field(execute, "all", true);
  plan.execute = field<std::set<std::string>>(execute, "blocks", {});
  plan.renamed = field<std::map<std::string, std::string>>(execute, "renamed", {});
  const Json lead_in = field<Json>(json, "lead_in", Json::object());
  plan.lead_in_all = field(lead_in, "all", true);
  plan.lead_in = field<std::set<std::string>>(lead_in, "blocks", {});
  plan.any_device = field(json, "any_device", false);
  plan.proofs = field<int64_t>(json, "proofs", 0);
  read.require(0 <= plan.proofs && plan.proofs <= static_cast<int64_t>(plan.units.size()),
               "it has more proof units than units");
  if (const Json brief = field<Json>(json, "brief", Json()); brief.is_number())
    plan.brief = brief.get<double>();
  for (const auto& probe : field<Json>(json, "probes", Json::array())) {
    plan.probes.push_back(probe_from(probe));
  }
  if (const Json names = field<Json>(json, "names", Json()); names.is_array())
    plan.names = names.get<std::set<std::string>>();
  plan.reasons = field<std::vector<std::string>>(json, "reasons", {});
  const Json estimate = field<Json>(json, "estimate", Json::object());
  plan.workers = field<std::size_t>(estimate, "workers", 0);
  plan.bound = field(estimate, "bound", 0.0);
  plan.makespan = field(estimate, "makespan", 0.0);
  plan.serial = field(estimate, "serial", 0.0);
  return plan;
}

Plan read_plan(const ReplayDir& replay) {
  const Descriptor file = open_regular(replay.plan());
  const std::string text = read_regular(file, replay.plan(), any_size, foreign_plan_limit);
  return plan_from_text(text, replay.plan().string(), is_foreign(file));
}

Plan plan_from_text(std::string_view text, const std::string& file, bool foreign) {
  const auto require_few = [&](std::size_t number, std::size_t most, const char* what) {
    if (foreign && number > most)
      throw Error(file + " holds more than " + std::to_string(most) + " " + what + " and is not read");
  };
  if (foreign) require_few(values_in(text), most_foreign_plan_values, "values");
  const Json json = parse_json(text);
  const auto units = json.is_object() ? json.find("units") : json.end();
  if (units != json.end()) require_few(units->size(), most_foreign_units, "units");
  return plan_from(json, file);
}

}  // namespace flor::core
