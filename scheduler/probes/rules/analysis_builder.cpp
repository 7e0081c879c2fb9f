#include "probes/rules/analysis_builder.h"

#include <utility>

namespace flor::probes {
namespace {

constexpr size_t kMaxReasons = 100;

}  // namespace

void AnalysisBuilder::say(const std::string& where, const std::string& what) {
  const std::string reason = where + ": " + what;
  if (!said_.insert(reason).second || said_.size() > kMaxReasons) return;
  analysis_.reasons.push_back(said_.size() < kMaxReasons ? reason : "… and more");
}

void AnalysisBuilder::everything(const std::string& where, const std::string& why) {
  analysis_.all = true;
  say(where, why + ": every block executes");
}

void AnalysisBuilder::whole_iterations(const std::string& where, const std::string& why) {
  const std::string reason = where + ": " + why + ": units are whole iterations";
  if (said_.insert(reason).second && said_.size() < kMaxReasons) analysis_.whole_iterations.push_back(reason);
}

ProbeAnalysis AnalysisBuilder::take() {
  const auto recorded = [&](std::set<std::string>& names) {
    std::set<std::string> out;
    for (const auto& name : names) {
      const auto at = analysis_.renamed.find(name);
      out.insert(at == analysis_.renamed.end() ? name : at->second);
    }
    names = std::move(out);
  };
  recorded(analysis_.blocks);
  recorded(analysis_.lead_in);
  for (AddedLog& log : analysis_.logs) {
    recorded(log.depends);
    for (Input& input : log.inputs) recorded(input.changed_by);
  }
  return std::move(analysis_);
}

}  // namespace flor::probes
