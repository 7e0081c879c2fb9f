#include "core/tier/tiers.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/base/messages.h"
#include "core/base/units_text.h"
#include "core/files/durable.h"
#include "core/store/local_tier.h"

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
  struct statvfs info = {};
  if (::statvfs(local_.c_str(), &info) != 0) return true;  // writing will tell
  const std::uint64_t room = static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
  if (room >= bytes) return true;
  refused(ENOSPC, local_.string() + " has room for " + bytes_text(room) + " and a checkpoint takes " +
                      bytes_text(bytes));
  return false;
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
  } catch (const std::system_error&) {
    if (out.empty()) throw;  // else trying will tell, if it comes to that
  }
  out.push_back({Tier::store, run_.path / file});
  return out;
}

void Tiers::refused(int error, const std::string& why) {
  const bool full = error == ENOSPC || error == EDQUOT;
  if (!full) ++refusals_;
  if (said_) return;
  said_ = true;
  warn("the local tier refuses checkpoints, they go straight to the store" +
       std::string(full ? " until it has room: " : ": ") + why);
}

}  // namespace flor::core
