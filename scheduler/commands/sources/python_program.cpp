#include "commands/sources/python_program.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "commands/sources/python_hook.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/files/descriptor.h"
#include "core/files/durable.h"
#include "core/process/spawn.h"
#include "core/store/timeline.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;

using core::field;
using core::Json;

// Returns the file of `python -m NAME`, or nothing.
std::optional<fs::path> module_file(const std::string& name, const fs::path& directory) {
  std::string below = name;
  std::replace(below.begin(), below.end(), '.', '/');
  for (const fs::path& path : {directory / (below + ".py"), directory / below / "__main__.py"}) {
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return std::nullopt;
}

// Returns the first argument that is a file of Python or a module there, as an absolute path without links.
std::optional<fs::path> script_of(const std::vector<std::string>& command, const fs::path& directory) {
  for (std::size_t k = 1; k < command.size(); ++k) {
    std::error_code error;
    fs::path path = directory / command[k];
    const bool is_module = command[k] == "-m" && k + 1 < command.size();
    if (is_module) path = module_file(command[k + 1], directory).value_or(path);
    if (path.extension() != ".py") continue;
    const fs::path canonical = fs::weakly_canonical(path, error);
    return error ? path.lexically_normal() : canonical;
  }
  return std::nullopt;
}

// A file of this user alone, which is removed in the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) {
    std::string name = fs::absolute(fs::temp_directory_path() / "flor-edits-XXXXXX").string();
    const core::Descriptor file(::mkstemp(name.data()));
    if (file.get() < 0) throw core::Error("no file can be made in " + fs::temp_directory_path().string());
    path_ = name;
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t wrote = ::write(file.get(), text.data() + done, text.size() - done);
      if (wrote <= 0) throw core::Error(name + " cannot be written");
      done += static_cast<std::size_t>(wrote);
    }
  }
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

probes::ProbeAnalysis everything(const std::string& why) {
  probes::ProbeAnalysis out;
  out.all = true;
  out.reasons.push_back(why + ": every block executes; --probe says otherwise");
  out.whole_iterations = {why + ": units begin at iterations"};
  return out;
}

std::set<std::string> set_of(const Json& json, const char* key) {
  const auto values = field<std::vector<std::string>>(json, key, {});
  return {values.begin(), values.end()};
}

probes::AddedLog log_from(const Json& json) {
  probes::AddedLog log{field<std::string>(json, "name", ""), field<std::string>(json, "file", ""),
                       field(json, "line", 0), field<std::string>(json, "block", "")};
  log.is_volatile = field(json, "volatile", false);
  log.withheld = field<std::string>(json, "withheld", "");
  log.depends = set_of(json, "depends");
  return log;
}

probes::ProbeAnalysis analysis_from(const Json& json) {
  probes::ProbeAnalysis out;
  out.all = field(json, "all", true);
  out.blocks = set_of(json, "blocks");
  out.lead_in = set_of(json, "lead_in");
  out.from_start = field(json, "from_start", false);
  out.names = set_of(json, "names");
  out.whole_iterations =
      field<std::vector<std::string>>(json, "whole_iterations", {"units begin at iterations"});
  out.reasons = field<std::vector<std::string>>(json, "reasons", {});
  for (const auto& probe : field<Json>(json, "probes", Json::array())) out.logs.push_back(log_from(probe));
  return out;
}

// A loop over what gives other elements where it is begun anew is replayed from the program's start.
probes::ProbeAnalysis entered(const core::Manifest& manifest, probes::ProbeAnalysis analysis) {
  const core::RecordedLoop* loop = manifest.main_loop();
  if (loop == nullptr || !loop->one_pass || !loop->guarded) return analysis;
  analysis.from_start = true;
  analysis.reasons.push_back(
      "loop " + loop->name +
      " gives other elements where it is begun in its middle: the replay runs from the start");
  return analysis;
}

// Returns what executions were seen to change without holding it.
Json seen_in(const core::RunDir& run) {
  Json out = Json::array();
  for (const auto& row : core::read_timeline(run.timeline())) {
    if (field<std::string>(row, "kind", "") != "unheld") continue;
    out.push_back(
        {{"block", field<std::string>(row, "block", "")}, {"path", field<std::string>(row, "path", "")}});
  }
  return out;
}

// Returns the texts of both sides for the analysis. Throws Error where one cannot be read.
Json texts_of(const core::RunDir& run, const core::Manifest& manifest, const core::SourceScan& present,
              const std::vector<std::string>& command) {
  std::map<std::string, const core::SourceText*> texts;
  for (const auto& file : present.files) texts[file.path] = &file;
  Json files = Json::array();
  for (const auto& source : manifest.sources) {
    if (!source.interpreted) continue;
    const auto path = present_path(manifest, source, command, fs::current_path()).string();
    const auto text = texts.find(path);
    if (text == texts.end()) throw core::Error(path + " is not there, or others could write it");
    files.push_back({{"path", path},
                     {"recorded", core::read_file(run.path / source.file)},
                     {"present", text->second->text}});
  }
  Json out = {{"files", std::move(files)}, {"seen", seen_in(run)}, {"loops", manifest.loop_names()}};
  const auto script =
      command.empty() ? script_of(manifest.command, manifest.cwd) : script_of(command, fs::current_path());
  if (script) out["script"] = script->string();
  return out;
}

}  // namespace

bool is_interpreted(const core::Manifest& manifest) {
  return std::any_of(manifest.sources.begin(), manifest.sources.end(),
                     [](const auto& source) { return source.interpreted; });
}

fs::path present_path(const core::Manifest& manifest, const core::RecordedSource& source,
                      const std::vector<std::string>& command, const fs::path& directory) {
  const auto recorded = script_of(manifest.command, manifest.cwd);
  const auto present = script_of(command, directory);
  if (!recorded || !present) return source.path;
  if (source.path == *recorded) return *present;
  const fs::path below = fs::path(source.path).lexically_relative(recorded->parent_path());
  if (below.empty() || *below.begin() == "..") return source.path;
  const fs::path beside = present->parent_path() / below;
  std::error_code ignored;
  return fs::is_regular_file(beside, ignored) ? beside : fs::path(source.path);
}

core::SourceScan scan_interpreted(const core::Manifest& manifest, const std::vector<std::string>& command) {
  std::vector<std::string> paths;
  for (const auto& source : manifest.sources) {
    if (source.interpreted)
      paths.push_back(present_path(manifest, source, command, fs::current_path()).string());
  }
  core::SourceScan scan;
  core::add_sources(paths, scan);
  return scan;
}

namespace {

probes::ProbeAnalysis compare_texts(const core::RunDir& run, const core::Manifest& manifest,
                                    const fs::path& interpreter, const std::vector<std::string>& command) {
  if (interpreter.filename().string().rfind("python", 0) != 0)
    return everything(interpreter.string() + " is not Python's interpreter, which would compare the sources");
  try {
    if (!manifest.unresolved.empty())
      return everything("the record lacks the source " + manifest.unresolved.front());
    const Json texts = texts_of(run, manifest, scan_interpreted(manifest, command), command);
    const TemporaryFile file(texts.dump(-1, ' ', false, Json::error_handler_t::replace));
    std::string output;
    // In the root directory: Python looks for modules where it is started first, and others may have put some
    // there.
    const std::string program =
        "import os; os.chdir('/'); import runpy; runpy.run_module('flor._edits', None, '__main__')";
    if (core::run_program({"/usr/bin/env", "PYTHONPATH=" + path_with_package(), interpreter.string(), "-c",
                           program, file.path()},
                          &output) != 0)
      return everything("the sources could not be compared by " + interpreter.string() + " -m flor._edits");
    const Json answer = core::parse_json(output);
    if (!answer.is_object()) return everything("the comparison of the sources printed no answer");
    return analysis_from(answer);
  } catch (const std::exception& problem) {
    return everything(std::string("the sources could not be compared: ") + problem.what());
  }
}

}  // namespace

probes::ProbeAnalysis compare_interpreted(const core::RunDir& run, const core::Manifest& manifest,
                                          const fs::path& interpreter,
                                          const std::vector<std::string>& command) {
  return entered(manifest, compare_texts(run, manifest, interpreter, command));
}

}  // namespace flor::commands
