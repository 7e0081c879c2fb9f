// Builds a ProbeAnalysis. Keeps equal reasons once.
#pragma once

#include <set>
#include <string>

#include "probes/probes.h"

namespace flor::probes {

class AnalysisBuilder {
 public:
  // Makes every block execute, with the reason "WHERE: WHY: every block executes".
  void everything(const std::string& where, const std::string& why);
  void execute(const std::string& block) { analysis_.blocks.insert(block); }
  void execute_in_lead_in(const std::string& block) {
    execute(block);
    analysis_.lead_in.insert(block);
  }
  void from_start() { analysis_.from_start = true; }
  void whole_iterations(const std::string& where, const std::string& why);
  void renamed(const std::string& present, const std::string& recorded) {
    analysis_.renamed[present] = recorded;
  }
  void say(const std::string& where, const std::string& what);
  void log(AddedLog log) { analysis_.logs.push_back(std::move(log)); }
  void name(const std::string& name) { analysis_.names.insert(name); }
  [[nodiscard]] const ProbeAnalysis& so_far() const { return analysis_; }
  ProbeAnalysis take();

 private:
  ProbeAnalysis analysis_;
  std::set<std::string> said_;
};

}  // namespace flor::probes
