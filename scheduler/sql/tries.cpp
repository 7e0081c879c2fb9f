#include "sql/tries.h"

#include "sql/transaction.h"

namespace flor::sql {

Tries::Tries(Database& database) : database_(database) {
  Statement all(database, "SELECT run, number, stamp, refusal FROM base_tries");
  while (all.step()) known_[all.value(0)] = {all.value(1), all.value(2), all.value(3)};
}

int64_t Tries::last_of(const std::string& run) const {
  const auto known = known_.find(run);
  return known == known_.end() ? 0 : known->second.number;
}

std::optional<std::string> Tries::refusal_of(const std::string& run, const std::string& stamp) const {
  const auto known = known_.find(run);
  if (known == known_.end() || stamp.empty() || known->second.stamp != stamp) return std::nullopt;
  return known->second.refusal;
}

void Tries::save(const std::set<std::string>& runs) {
  std::vector<std::string> gone;
  for (const auto& [run, known] : known_) {
    if (runs.count(run) == 0) gone.push_back(run);
  }
  if (gone.empty() && added_.empty()) return;
  Transaction transaction(database_);
  Statement forget(database_, "DELETE FROM base_tries WHERE run = ?1");
  for (const auto& run : gone) forget.bind(1, run).execute();
  // What was there gives its number away, and gets one above all others.
  Statement insert(database_, "INSERT OR REPLACE INTO base_tries(run, stamp, refusal) VALUES(?1, ?2, ?3)");
  for (const auto& one : added_) insert.bind(1, one.run).bind(2, one.stamp).bind(3, one.refusal).execute();
  transaction.commit();
}

}  // namespace flor::sql
