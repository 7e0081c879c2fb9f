// Code that was added to a program, or taken from it: does the rest of the program do the same with it and
// without?
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
  // `ranges`: all such code of the program.
  // `recorded`: it was taken out, so what it did to modules was part of what was recorded.
  OwnCode(const Flow& flow, const std::vector<Range>& ranges, bool recorded);

  // Why the range is not without effect, "" where it is: it changes nothing but variables of its own, and
  // decides nothing for others. Of what is only handed to a log statement an unknown call is taken to read.
  [[nodiscard]] std::string objection(const Range& range) const;
  // The same of code whose statements all lie in new functions, which only new code can call.
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
  std::set<int> captured_;  // own symbols that other code names: a new name hides an old one
};

}  // namespace flor::probes
