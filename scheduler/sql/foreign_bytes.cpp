#include "sql/foreign_bytes.h"

#include <algorithm>

#include "core/files/shared_directory.h"

namespace flor::sql {

ForeignBytes::ForeignBytes(Database& database, const core::Store& store) {
  Statement known(database, "SELECT run, foreign_bytes FROM base_runs WHERE foreign_bytes > 0");
  std::size_t held = 0;
  std::map<uid_t, std::size_t> held_of;
  while (known.step()) {
    const Held run{core::directory_owner(store.run(known.value(0)).path), known.value(1).get<std::size_t>()};
    held += run.bytes;
    held_of[run.owner] += run.bytes;
    held_[known.value(0)] = run;
  }
  const auto left = [](std::size_t most, std::size_t held) { return most - std::min(held, most); };
  room_ = results::ForeignRows(left(most_foreign_bytes, held));
  for (const auto& [owner, bytes] : held_of) room_.limit(owner, left(most_foreign_bytes / 2, bytes));
}

results::JoinedRows ForeignBytes::read(const core::RunDir& run, const core::Manifest& manifest) {
  if (!manifest.foreign) return results::read_joined(run, manifest);
  const auto known = held_.find(run.id());
  const Held before = known == held_.end() ? Held{} : known->second;
  const uid_t owner = core::directory_owner(run.path);
  room_.give_back(before.owner, before.bytes);
  results::ForeignRows now = rows_;
  now.limit(owner, room_.left(owner));
  const std::size_t most = now.left(owner);
  const bool lacks_room = most < rows_.left(owner);
  const auto taken = [&] { return most - now.left(owner); };
  try {
    auto out = results::read_joined(run, manifest, now);
    rows_.take(owner, taken());
    room_.take(owner, taken());
    return out;
  } catch (const results::ForeignRows::UsedUp& problem) {
    rows_.take(owner, taken());
    room_.take(before.owner, before.bytes);  // it is held on
    if (lacks_room) throw LacksRoom(problem.what());
    throw;
  } catch (const std::exception&) {
    rows_.take(owner, taken());
    throw;
  }
}

}  // namespace flor::sql
