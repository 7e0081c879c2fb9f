// How much of other users' runs the index reads at once, and keeps.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <string>

#include "core/store/manifest.h"
#include "core/store/store.h"
#include "results/results.h"
#include "sql/database.h"

namespace flor::sql {

// Bytes of the rows of other users' runs, as they stand in their logs, that the index holds.
inline constexpr std::size_t most_foreign_bytes = std::size_t{512} << 20;

// The rows of other users' runs that the index holds, and what may be read now.
class ForeignBytes {
 public:
  ForeignBytes(Database& database, const core::Store& store);

  // The index keeps no more of this user's rows; the next query would find no more room.
  class LacksRoom : public results::ForeignRows::UsedUp {
   public:
    using UsedUp::UsedUp;
  };

  // Reads a run that takes the place of what is held of it. Throws as results::read_joined(), and LacksRoom.
  results::JoinedRows read(const core::RunDir& run, const core::Manifest& manifest);

 private:
  struct Held {
    uid_t owner = 0;
    std::size_t bytes = 0;
  };
  // What may be read now, and what the index may hold more. What a run gives back there was read before, and
  // so does not count for the former.
  results::ForeignRows rows_, room_;
  std::map<std::string, Held> held_;
};

}  // namespace flor::sql
