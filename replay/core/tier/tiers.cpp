#include "core/tier/tiers.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/base/error.h"
#include "core/base/full.h"
#include "core/base/messages.h"
#include "core/base/units_text.h"
#include "core/files/durable.h"
#include "core/store/local_tier.h"
#include "core/tier/room.h"
#include "core/tier/spool.h"

namespace flor::core {
namespace {

// Lack of room passes as files are spooled. After so many other failures in a row the tier is not used any
// more.
constexpr int most_refusals = 3;

}  // namespace

bool Tiers::takes(std::uint64_t bytes) {
  if (local_.empty() || refusals_ >= most_refusals) return false;
  // Without this file no spooler would know where the files belong. The directory itself is never created
  // here.
  if (::access(LocalRun{local_, {}, {}, 0}.info().c_str(), F_OK) != 0) {
    refused(errno, local_.string() + " is no longer there");
    return false;
  }
  std::string full = why_no_room(local_, bytes);
  if (full.empty()) full = why_not_in_memory(bytes);
  if (!full.empty()) refused(ENOSPC, full);
  return full.empty();
}

std::string Tiers::why_not_in_memory(std::uint64_t bytes) const {
  if (!memory_left_ || !is_in_memory(local_)) return "";
  const std::uint64_t left = memory_left_();
  const std::uint64_t waiting = bytes_of(waiting_files({local_, {}, {}, 0}));
  // Where no limit is known, `left` is the largest number.
  const std::uint64_t together = std::max(left, left + waiting);
  if (waiting + bytes <= together / 3) return "";
  return local_.string() + " lies in memory, of which " + bytes_text(left) +
         " are left to this program beside " + bytes_text(waiting) + " that wait there, and with " +
         bytes_text(bytes) +
         " of a checkpoint more than a third of both would wait; ask for more (srun --mem), or choose a disk";
}

std::string Tiers::why_not_the_store(const fs::path& directory, std::uint64_t bytes) {
  if (std::string full = why_no_room(directory, bytes); !full.empty()) return full;
  if (quota_.leaves(directory, 3 * bytes, spare_files)) return "";
  return "this user's quota in " + directory.string() + " was used up, and " + bytes_text(3 * bytes) +
         " in " + std::to_string(spare_files) +
         " files, which would leave some to the program, cannot be seen to be free";
}

void Tiers::store_was_full(std::uint64_t bytes) {
  if (why_no_room(run_.path, bytes).empty()) quota_.note();
}

std::vector<Tiers::Target> Tiers::targets(const std::string& file, std::uint64_t bytes) {
  std::vector<Target> out;
  if (takes(bytes)) {
    try {
      create_directories_durably((local_ / file).parent_path());
      out.push_back({Tier::local, local_ / file});
    } catch (const std::system_error& problem) {
      refused(problem.code().value(), problem.what());
    }
  }
  try {
    create_directories_durably((run_.path / file).parent_path());
  } catch (const std::system_error& problem) {
    if (is_full(problem.code().value())) store_was_full(bytes);
    if (out.empty()) throw;  // else trying will tell, if it comes to that
  }
  const std::string full = why_not_the_store((run_.path / file).parent_path(), bytes);
  if (full.empty()) out.push_back({Tier::store, run_.path / file});
  if (out.empty()) throw Error(full);
  return out;
}

void Tiers::refused(int error, const std::string& why) {
  const bool full = is_full(error);
  if (!full) ++refusals_;
  if (said_) return;
  said_ = true;
  warn("the local tier refuses checkpoints, they go straight to the store" +
       std::string(full ? " until it has room: " : ": ") + why);
}

}  // namespace flor::core
