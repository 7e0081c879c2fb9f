#include "core/tiers.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/bytes_text.h"
#include "core/durable.h"
#include "core/local_tier.h"
#include "core/session.h"

namespace flor::core {
namespace {

// Want of room passes as files are spooled. After so many other failures in a row the tier is let alone.
constexpr int most_refusals = 3;

int error_of(const std::exception& problem) {
  const auto* system = dynamic_cast<const std::system_error*>(&problem);
  return system != nullptr ? system->code().value() : 0;
}

}  // namespace

bool Tiers::takes(std::uint64_t bytes) {
  if (local_.empty() || refusals_ >= most_refusals) return false;
  // Without it nobody would know where the files belong; the directory itself is never made anew here.
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
      refused(error_of(problem), problem.what());
    }
  }
  create_directories_durably((run_.path / file).parent_path());
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

Tier Tiers::write(const std::string& file, std::uint64_t bytes,
                  const std::function<void(const fs::path&)>& write) {
  for (const auto& target : targets(file, bytes)) {
    try {
      write(target.path);
      if (target.tier == Tier::local) accepted();
      return target.tier;
    } catch (const std::exception& problem) {
      if (target.tier == Tier::store) throw;
      refused(error_of(problem), problem.what());
      std::error_code ignored;
      fs::remove(target.path, ignored);  // it may be there, only not known to be durable
    }
  }
  return Tier::store;  // not reached: the store's attempt returns or throws
}

}  // namespace flor::core
