#include "sql/stamp.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/files/existence.h"
#include "core/files/trusted_file.h"

namespace flor::sql {
namespace {

using core::fs::path;

std::string text_of(const path& file, const struct stat& found) {
  return file.filename().string() + ' ' + std::to_string(found.st_uid) + ' ' + std::to_string(found.st_ino) +
         ' ' + std::to_string(found.st_size) + ' ' + std::to_string(found.st_mtim.tv_sec) + '.' +
         std::to_string(found.st_mtim.tv_nsec) + '\n';
}

std::string nothing_of(const path& file) {
  return file.filename().string() + " -\n";
}

// Units are files that are linked into place whole, so the time of their directory tells of a new one.
std::string look(const path& file) {
  struct stat found {};
  return ::lstat(file.c_str(), &found) == 0 ? text_of(file, found) : nothing_of(file);
}

// The same of a file that may be growing on another node. Opening it makes an NFS client ask the server.
std::string look_at_growing(const path& file) {
  if (!core::is_there(file)) return nothing_of(file);
  const core::Descriptor opened = core::open_regular(file);
  struct stat found {};
  if (::fstat(opened.get(), &found) != 0) throw core::Error("cannot look at " + file.string());
  return text_of(file, found);
}

}  // namespace

Stamp stamp_of(const core::RunDir& run) try {
  core::Manifest manifest = core::read_manifest(run);
  const bool is_recording = manifest.status == "recording";
  std::string all = look(run.manifest());
  // How far a recording is stands in its timeline.
  all += is_recording ? look_at_growing(run.log()) + look_at_growing(run.timeline()) : look(run.log());
  for (const auto& replay : run.all_replays())
    all += replay.id() + '\n' + look(replay.plan()) + look(replay.verdict()) + look(replay.units());
  Stamp out{core::digest_of(all), std::nullopt};
  if (is_recording) out.recording = std::move(manifest);
  return out;
} catch (const std::exception&) {
  return {};  // reading it will say why
}

}  // namespace flor::sql
