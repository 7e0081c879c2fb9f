#include "dashboard/data/signature.h"

#include <sys/stat.h>

#include "results/messages.h"

namespace flor::dashboard {
namespace {

void add(std::string& out, const core::fs::path& path) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0) {
    out += "-;";
    return;
  }
  out += std::to_string(info.st_size) + ":" + std::to_string(info.st_mtim.tv_sec) + "." +
         std::to_string(info.st_mtim.tv_nsec) + ";";
}

}  // namespace

Signatures signatures_of(const core::RunDir& run) {
  Signatures out;
  for (const auto& path : {run.manifest(), run.timeline(), run.log(), run.checkpoints(), run.replays()})
    add(out.recording, path);
  std::vector<core::ReplayDir> replays;
  try {
    replays = run.all_replays();
  } catch (const std::exception&) {
    out.recording += "unseen;";  // the line of the run says why
  }
  for (const auto& replay : replays) {
    out.recording += replay.id() + ";";
    for (const auto& path : {replay.units(), replay.proofs(), replay.workers(), replay.verdict(),
                             replay.failure(), replay.timeline(), results::messages_file(replay)})
      add(out.all, path);
  }
  out.all = out.recording + out.all;
  return out;
}

std::string signature_of(const core::RunDir& run) {
  return signatures_of(run).all;
}

}  // namespace flor::dashboard
