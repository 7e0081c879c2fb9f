#include "sql/stamp.h"

#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "core/base/digest.h"
#include "core/store/manifest.h"

namespace flor::sql {
namespace {

using core::fs::path;

// Units are files that are linked into place whole, so the time of their directory tells of a new one.
std::string look(const path& file) {
  struct stat found {};
  if (::lstat(file.c_str(), &found) != 0) return file.filename().string() + " -\n";
  return file.filename().string() + ' ' + std::to_string(found.st_ino) + ' ' + std::to_string(found.st_size) +
         ' ' + std::to_string(found.st_mtim.tv_sec) + '.' + std::to_string(found.st_mtim.tv_nsec) + '\n';
}

}  // namespace

std::string stamp_of(const core::RunDir& run) try {
  if (core::read_manifest(run).status == "recording") return "";
  std::string all = look(run.manifest()) + look(run.log());
  for (const auto& replay : run.all_replays())
    all += replay.id() + '\n' + look(replay.plan()) + look(replay.verdict()) + look(replay.units());
  return core::digest_of(all);
} catch (const std::exception&) {
  return "";  // reading it will say why
}

}  // namespace flor::sql
