// Decides whether the rest of a program does the same with and without code that was added or removed.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "probes/flow/flow.h"

namespace flor::probes {

// Tokens of a file that only one side has.
struct Range {
  int source = 0;
  size_t begin = 0, end = 0;
};

class OwnCode {
 public:
  // `ranges`: all such code of the program. `recorded`: the code was removed, so what it did to modules is
  // part of the record.
  OwnCode(const Flow& flow, const std::vector<Range>& ranges, bool recorded);

  // Returns why the range has an effect on the rest. "": it has none, as it changes only variables of its own
  // and decides nothing for others. An unknown call is assumed to only read what is just passed to a log
  // statement.
  [[nodiscard]] std::string objection(const Range& range) const;
  // Returns whether only the added or removed code uses the variable.
  [[nodiscard]] bool is_own(int symbol) const { return own_.count(symbol) != 0; }

 private:
  [[nodiscard]] std::string objection(int statement, const Range& range) const;
  [[nodiscard]] std::string objection(const Definition& change, int statement) const;
  [[nodiscard]] std::string objection_to_calls(int statement) const;
  [[nodiscard]] bool trains(const Definition& change, int depth) const;
  [[nodiscard]] std::string objection_to_training(int statement) const;
  [[nodiscard]] bool is_without_tensors(const Statement& statement) const;
  [[nodiscard]] bool is_enclosed(const Statement& statement, const Range& range) const;
  [[nodiscard]] bool is_switched_anew(int module, const Statement& from) const;
  [[nodiscard]] bool leaves(int statement, const Range& range) const;
  [[nodiscard]] bool contains(const Range& range, int source, size_t token) const;
  [[nodiscard]] bool in_own_code(int source, size_t token) const;

  const Flow& flow_;
  const Model& model_;
  const std::vector<Range>& ranges_;
  const bool recorded_;
  std::set<int> own_;  // symbols
  std::set<int> own_functions_;
  // Own symbols that other code names: a new name hides an old one.
  std::set<int> captured_;
};

}  // namespace flor::probes
