// Decides which blocks the probes of a program need, and collects what is known about each probe.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "probes/flow/flow.h"
#include "probes/rules/analysis_builder.h"
#include "probes/rules/edit_classifier.h"

namespace flor::probes {

class ProbeRules {
 public:
  ProbeRules(const Program& present, const Flow& flow, AnalysisBuilder* analysis);

  void run(const std::vector<EditClassifier::Probe>& probes);

 private:
  struct Found {
    EditClassifier::Probe probe;
    // In the tree.
    int node = 0;
    // In the model.
    int statement = -1;
    // Blocks that run it.
    std::set<int> around;
  };
  [[nodiscard]] Found find(const EditClassifier::Probe& probe) const;
  void around(const Found& found);
  void gradients(const Found& found);
  void gradients_of_calls(const Found& found);
  void between_steps(const Found& found);
  void wants(const Found& found);
  void withhold(const Found& found, const std::string& name, const std::set<int>& at, AddedLog& log);
  [[nodiscard]] bool skips_between(const Found& found, int statement, bool read_twice) const;
  void execute(int block);
  [[nodiscard]] std::string name_of(int block) const;
  [[nodiscard]] std::string where(const Found& found) const;
  [[nodiscard]] int line(const Found& found) const;

  const Program& present_;
  const GradientNames gradients_;
  const Flow& flow_;
  const Model& model_;
  AnalysisBuilder& analysis_;
  std::set<int> executing_;
  // Limit for all probes together. Beyond it everything executes.
  int64_t steps_ = 200000;
};

}  // namespace flor::probes
