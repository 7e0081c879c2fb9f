// Decides what the edits of a program make a replay execute.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "probes/cxx/log_calls.h"
#include "probes/cxx/tree_diff.h"
#include "probes/flow/flow.h"
#include "probes/program/program.h"
#include "probes/rules/analysis_builder.h"
#include "probes/rules/own_code.h"

namespace flor::probes {

// The edits between a recorded file and its present partner. A new file is one addition.
struct FileEdits {
  // Sources. −1: none.
  int recorded = -1, present = -1;
  std::vector<Edit> edits;
};

// Decides whether the edits leave the rest of the program alone. Collects the probes among them.
class EditClassifier {
 public:
  EditClassifier(const Program& recorded, const Program& present, const std::vector<FileEdits>& files,
                 AnalysisBuilder* analysis);

  // A probe: a log statement that the recorded program does not have.
  struct Probe {
    int source = 0;
    // Token of the call.
    size_t token = 0;
    std::string name;
  };
  // Classifies all edits. Returns the probes, also those inside edits that change recorded code.
  std::vector<Probe> run(const Flow& present, const Flow* recorded);

  [[nodiscard]] const std::vector<Range>& added() const { return added_; }
  [[nodiscard]] const std::vector<Range>& removed() const { return removed_; }

 private:
  void added(const FileEdits& file, const Edit& edit);
  void removed(const FileEdits& file, const Edit& edit);
  void renamed(const FileEdits& file, const Edit& edit);
  [[nodiscard]] std::string objection(const FileEdits& file, int node);
  [[nodiscard]] std::string objection_to_declaration(const Source& source, int node,
                                                     const Program& other) const;
  [[nodiscard]] std::string objection_to_member(const Source& source, int node) const;
  [[nodiscard]] bool separates_else(const Tree& tree, int node, const std::set<int>& edited) const;
  [[nodiscard]] std::vector<LogCall> without_removed(const Source& source, std::vector<LogCall> logs);
  [[nodiscard]] std::string where(const FileEdits& file, int line) const;
  [[nodiscard]] std::string changed(const Tree& tree, int node) const;
  void list_edits(const FileEdits& file);

  const Program& recorded_;
  const Program& present_;
  const std::vector<FileEdits>& files_;
  AnalysisBuilder& analysis_;
  std::vector<Range> added_, removed_;
  std::map<int, std::set<int>> added_nodes_, removed_nodes_;  // by source
  // Log calls in removed statements of the recorded files, as text.
  std::multiset<std::string> removed_logs_;
  std::vector<Probe> probes_;
  const OwnCode* own_ = nullptr;  // of the present program
  const OwnCode* own_recorded_ = nullptr;
};

}  // namespace flor::probes
