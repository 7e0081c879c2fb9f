// Collects a decision. A reason is given once.
#pragma once

#include <set>
#include <string>

#include "probes/probes.h"

namespace flor::probes {

class Answer {
 public:
  // "WHERE: WHY: every block executes"
  void everything(const std::string& where, const std::string& why);
  void execute(const std::string& block) { decision_.blocks.insert(block); }
  void execute_in_lead_in(const std::string& block) {
    execute(block);
    decision_.lead_in.insert(block);
  }
  void from_start() { decision_.from_start = true; }
  void whole_iterations(const std::string& where, const std::string& why);
  void renamed(const std::string& present, const std::string& recorded) {
    decision_.renamed[present] = recorded;
  }
  void say(const std::string& where, const std::string& what);
  void log(AddedLog log) { decision_.logs.push_back(std::move(log)); }
  [[nodiscard]] const Decision& so_far() const { return decision_; }
  Decision take();

 private:
  Decision decision_;
  std::set<std::string> said_;
};

}  // namespace flor::probes
