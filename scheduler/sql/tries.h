// In what order other users' runs were last tried to read, and which of them are refused.
// Motivation: only so much of them is read at once. Were each query to begin with the same ones, it would
// never get to the others.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sql/database.h"

namespace flor::sql {

class Tries {
 public:
  explicit Tries(Database& database);

  // A number that is smaller, the longer ago the run was tried. 0: never.
  int64_t last_of(const std::string& run) const;
  // Why the run is left out, if it was refused for good and still has that stamp.
  std::optional<std::string> refusal_of(const std::string& run, const std::string& stamp) const;

  void add(const std::string& run) { added_.push_back({run, "", ""}); }
  void refuse(const std::string& run, const std::string& stamp, const std::string& why) {
    added_.push_back({run, stamp, why});
  }
  // Writes what was added, and forgets all runs but these.
  void save(const std::set<std::string>& runs);

 private:
  struct Known {
    int64_t number = 0;
    std::string stamp, refusal;
  };
  struct Added {
    std::string run, stamp, refusal;
  };

  Database& database_;
  std::map<std::string, Known> known_;
  // In the order of the tries.
  std::vector<Added> added_;
};

}  // namespace flor::sql
