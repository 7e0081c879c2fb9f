#include "core/store/source_copies.h"

#include "core/base/digest.h"
#include "core/files/durable.h"
#include "core/store/scope.h"

namespace flor::core {

void copy_sources(const SourceScan& scan, const RunDir& run, Manifest& manifest) {
  constexpr mode_t readable = 0444;
  constexpr mode_t owners = 0600;
  create_directories_durably(run.source());
  for (const auto& source : scan.files) {
    std::string number = std::to_string(manifest.sources.size());
    number.insert(0, number.size() < 3 ? 3 - number.size() : 0, '0');
    const std::string file = "source/" + number + "-" + clean_name(fs::path(source.path).filename().string());
    write_durably(run.path / file, source.text, (source.mode & readable) | owners);
    manifest.sources.push_back({source.path, file, digest_of(source.text), source.newer_than_binary});
  }
  manifest.unresolved = scan.unresolved;
  // Without all sources, only the program itself can tell whether it was edited.
  if (!scan.unresolved.empty()) manifest.binary_digest = digest_of(read_file(manifest.binary));
}

}  // namespace flor::core
