#include "core/sources/source_copies.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/digest.h"
#include "core/files/durable.h"
#include "core/store/scope.h"

namespace flor::core {
namespace {

// In place of the digest of a program that its user may execute and not read.
constexpr const char* unknown_program = "unknown";

std::string digest_of_program(const fs::path& program) {
  try {
    return digest_of(read_named_file(program));
  } catch (const std::exception&) {
    return unknown_program;
  }
}

// The group that a new file in the directory gets.
gid_t group_of_files_in(const fs::path& directory) {
  struct stat info = {};
  const bool is_known = ::stat(directory.c_str(), &info) == 0;
  return is_known && (info.st_mode & S_ISGID) != 0 ? info.st_gid : ::getegid();
}

mode_t mode_of_copy(const Readers& readers, gid_t group) {
  mode_t mode = S_IRUSR | S_IWUSR;
  if (readers.group && readers.group_id == group) mode |= S_IRGRP;
  if (readers.others) mode |= S_IROTH;
  return mode;
}

}  // namespace

void copy_sources(const SourceScan& scan, const RunDir& run, Manifest& manifest, const fs::path& program) {
  create_directories_durably(run.source());
  const gid_t group = group_of_files_in(run.source());
  for (const auto& source : scan.files) {
    std::string number = std::to_string(manifest.sources.size());
    number.insert(0, number.size() < 3 ? 3 - number.size() : 0, '0');
    const std::string file = "source/" + number + "-" + clean_name(fs::path(source.path).filename().string());
    write_durably(run.path / file, source.text, mode_of_copy(source.readers, group));
    manifest.sources.push_back(
        {source.path, file, digest_of(source.text), source.newer_than_binary, source.interpreted});
  }
  manifest.unresolved = scan.unresolved;
  // Without the sources only the program itself can tell whether it was edited.
  if (!scan.unresolved.empty()) manifest.binary_digest = digest_of_program(program);
}

bool is_another_program(const Manifest& manifest, const fs::path& program) {
  const std::string& recorded = manifest.binary_digest;
  return !recorded.empty() && (recorded == unknown_program || recorded != digest_of_program(program));
}

}  // namespace flor::core
