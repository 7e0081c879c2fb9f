// Reads the rows of a run and of its replays from the store, merges them, and gives the verdict, for the
// commands.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/files/trusted_file.h"
#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "core/store/store.h"
#include "results/rows/merge.h"
#include "results/rows/rows.h"
#include "results/verdict/verdict.h"

namespace flor::results {

// Reads every selected unit, and writes log.jsonl and verdict.json of the replay, durably. Can be repeated.
// Takes the environments and warnings of the workers from `workers/`, and more from `extras`. Throws
// core::Error, which names a missing or damaged unit file, and then writes nothing.
Verdict collect(const core::RunDir& run, const core::ReplayDir& replay, const core::Plan& plan,
                const Extras& extras);

// Reads the record log. Throws core::Error naming file and line of damage.
RecordLog read_record(const core::RunDir& run);

// Returns the rows that replays of the run have so far, for joined(). The replays that count most come last.
// Skips a damaged plan or unit, and adds a line to `warnings`, up to a hundred.
std::vector<ReplayRows> read_replay_rows(const core::RunDir& run, std::vector<std::string>& warnings);

// The rows of a run with those that its replays added.
struct JoinedRows {
  std::vector<Row> rows;
  // The names that the recording logged.
  std::set<std::string> recorded;
  // One line for each part that is damaged and left out.
  std::vector<std::string> warnings;
  // Is nothing of the replays left out? What is, may be read again.
  bool has_all_replays = true;
  // Of another user's run that was not named: the bytes that were read.
  std::size_t foreign_bytes = 0;
};
// Throws core::Error naming file and line of damage in the record.
JoinedRows read_joined(const core::RunDir& run, const core::Manifest& manifest);

// What may still be read of the rows of other users' runs that this user did not name: so many bytes
// altogether, and a part of them of each user's.
class ForeignRows {
 public:
  explicit ForeignRows(std::size_t most = core::foreign_rows_together) : left_(most) {}

  class UsedUp : public core::Error {
   public:
    using Error::Error;
  };
  // A run has more than is read of any.
  class TooLarge : public core::Error {
   public:
    using Error::Error;
  };

  // Lets no more than so many bytes of this user's be read.
  void limit(uid_t owner, std::size_t most);
  // Takes bytes from what is left, or gives them back.
  void take(uid_t owner, std::size_t bytes);
  void give_back(uid_t owner, std::size_t bytes);
  std::size_t left(uid_t owner) const;

 private:
  std::size_t left_of_one(uid_t owner) const;

  std::size_t left_;
  std::map<uid_t, std::size_t> left_of_;
};
// The same for a run that was not named. Of another user's, throws UsedUp where no more may be read; and
// TooLarge where its rows, with the plans of its replays, take more than core::foreign_rows_limit; Error
// where its log is a file with several names. Leaves out a replay whose plan is one.
JoinedRows read_joined(const core::RunDir& run, const core::Manifest& manifest, ForeignRows& foreign);

// Reads the verdict. Returns nullopt if there is none yet. Throws core::Error, which names a damaged file.
std::optional<Verdict> read_verdict(const core::ReplayDir& replay);

}  // namespace flor::results
