#include "commands/sources/probing.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "commands/sources/python_program.h"
#include "commands/sources/source_files.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/sources/sources.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;

// In bytes. A larger file among the arguments counts as data, and not as part of the program.
constexpr std::uintmax_t kLargestScript = 1 << 20;

// Is it a program or a script, by its beginning, its name or its mode? What is not may be a file that the
// program itself writes.
bool is_executed(const fs::path& file, const std::string& content) {
  static const std::set<std::string> scripts{".py", ".sh", ".bash", ".pl", ".lua", ".jl", ".R"};
  return content.rfind("#!", 0) == 0 ||
         content.rfind(
             "\x7f"
             "ELF",
             0) == 0 ||
         scripts.count(file.extension().string()) != 0 || ::access(file.c_str(), X_OK) == 0;
}

// Is it the user's own? A wrapper or an interpreter of the system may be another one on each node.
bool is_own(const fs::path& file) {
  struct stat about {};
  return ::stat(file.c_str(), &about) == 0 && about.st_uid == ::geteuid();
}

// Fills in the digest of each file of the program, because every edit makes another question. A program that
// names no sources may be a script or an interpreter: then the files among its arguments belong to it.
void add_digests(const fs::path& program, const std::vector<std::string>& command,
                 const core::SourceScan& scan, Probing& out) {
  for (const auto& file : scan.files) out.program[file.path] = core::digest_of(file.text);
  std::vector<fs::path> files{program};
  for (const auto& file : scan.files) {
    if (file.interpreted) files.emplace_back(file.path);
  }
  if (scan.files.empty()) {
    std::error_code ignored;
    for (std::size_t k = 1; k < command.size(); ++k) {
      if (fs::is_regular_file(command[k], ignored) && fs::file_size(command[k], ignored) <= kLargestScript) {
        files.emplace_back(command[k]);
      }
    }
  }
  for (const auto& file : files) {
    std::string content;
    try {
      content = core::read_named_file(file);
    } catch (const std::exception&) {
      out.program[file.string()] = "";  // executable, but not readable
      continue;
    }
    const std::string digest = core::digest_of(content);
    out.program[file.string()] = digest;
    const bool is_built_from_sources = !scan.files.empty() && !scan.files.front().interpreted;
    if (is_built_from_sources || (is_own(file) && is_executed(file, content)))
      out.executed_files[fs::absolute(file).string()] = digest;
  }
}

void take(const probes::ProbeAnalysis& analysis, Probing& out) {
  out.executed = {analysis.all, analysis.blocks};
  out.lead_in_all = analysis.all;
  out.lead_in = analysis.lead_in;
  out.from_start = analysis.from_start;
  out.whole_iterations = analysis.whole_iterations;
  out.renamed = analysis.renamed;
  out.reasons = analysis.reasons;
  out.names = analysis.names;
  for (const auto& log : analysis.logs) {
    core::Probe probe{log.name, log.file, log.line, log.block};
    probe.withheld = log.withheld;
    probe.is_volatile = log.is_volatile;
    probe.depends = log.depends;
    for (const auto& input : log.inputs)
      probe.inputs.push_back({input.name, input.held, input.why, input.changed_by});
    out.probes.push_back(std::move(probe));
  }
}

void execute_everything(const std::string& why, Probing& out) {
  out.executed = {true, {}};
  out.lead_in_all = true;
  out.reasons.push_back(why + ": every block executes; --probe says otherwise");
}

// Compares the sources, and fills in the probes and what executes.
void compare(const core::RunDir& run, const core::Manifest& manifest, const fs::path& program,
             const std::vector<std::string>& command, const core::SourceScan& scan, Probing& out) {
  if (is_interpreted(manifest)) {
    take(compare_interpreted(run, manifest, program, command), out);
  } else if (scan.files.empty()) {
    execute_everything(program.string() + " names no sources (a script, or built without libflor)", out);
  } else if (manifest.sources.empty()) {
    execute_everything("the record has no sources to compare with", out);
  } else {
    take(decide(recorded_sources(run, manifest), present_sources(scan)), out);
  }
}

std::string joined(const std::set<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

plan::ExecutedBlocks executed_blocks(const std::string& wanted, const std::set<std::string>& blocks) {
  if (wanted == "all") return {true, {}};
  plan::ExecutedBlocks out{false, {}};
  if (wanted == "none") return out;
  std::istringstream names(wanted);
  for (std::string name; std::getline(names, name, ',');) {
    if (blocks.count(name) == 0) {
      throw core::UsageError("--probe: the record has no block '" + name + "'; it has " +
                             (blocks.empty() ? "none" : joined(blocks)));
    }
    out.blocks.insert(name);
  }
  return out;
}

}  // namespace

Probing probe(const core::RunDir& run, const core::Manifest& manifest, const fs::path& program,
              const std::vector<std::string>& command, const std::string& wanted,
              const std::set<std::string>& blocks) {
  Probing out;
  const core::SourceScan scan =
      is_interpreted(manifest) ? scan_interpreted(manifest, command) : core::scan_sources(program);
  compare(run, manifest, program, command, scan, out);
  add_digests(program, command, scan, out);
  if (wanted == "auto") return out;
  out.executed = executed_blocks(wanted, blocks);
  out.reasons = {"--probe " + wanted + ": " +
                 (out.executed.all              ? "every block executes"
                  : out.executed.blocks.empty() ? "no block executes that has a checkpoint"
                                                : "these blocks execute")};
  return out;
}

}  // namespace flor::commands
