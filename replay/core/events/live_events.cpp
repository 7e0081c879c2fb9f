#include "core/events/live_events.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <string>

#include "core/base/clock.h"
#include "core/base/messages.h"
#include "core/config/settings.h"
#include "core/files/durable.h"
#include "core/files/trusted_file.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;

// Of a log that is there already: enough for the first iterations of its loops.
constexpr std::size_t most_learned = std::size_t{4} << 20;

template <class Take>
void for_each_row(std::string_view lines, const Take& take) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const Json row = parse_json(line);
    if (row.is_object() && row.contains("name") && row.contains("value"))
      take(field<std::string>(row, "name", ""), row["value"],
           scope_loops(field<std::string>(row, "@at", "")));
  }
}

// Several may begin in one second, each in a process of its own.
fs::path file_in(const fs::path& directory) {
  const std::string stem = "events.out.tfevents." + std::to_string(static_cast<int64_t>(wall_seconds())) +
                           "." + std::to_string(::getpid());
  fs::path file = directory / (stem + ".flor");
  for (int more = 2; fs::exists(file); ++more)
    file = directory / (stem + "-" + std::to_string(more) + ".flor");
  return file;
}

void tell(const std::string& problem) noexcept {
  try {
    warn("event files of TensorBoard are not written any more, the program goes on: " + problem +
         "; the rows are in the log, and flor export RUN --tensorboard DIR writes them anew");
  } catch (const std::exception&) {
  }
}

}  // namespace

bool wants_events() {
  const auto value = environment_variable("FLOR_TENSORBOARD");
  if (value && *value != "0" && *value != "1")
    warn_once("FLOR_TENSORBOARD=" + *value + " is ignored: write 1 for event files of TensorBoard, or 0");
  return value == "1";
}

std::unique_ptr<LiveEvents> LiveEvents::begin(const fs::path& directory, const fs::path& log) noexcept {
  try {
    if (!wants_events()) return nullptr;
    create_directories_durably(directory);
    return std::unique_ptr<LiveEvents>(new LiveEvents(file_in(directory), log));
  } catch (const std::exception& problem) {
    tell(problem.what());
    return nullptr;
  }
}

LiveEvents::LiveEvents(const fs::path& file, const fs::path& log)
    : file_(file, wall_seconds()), rows_(log.parent_path()) {
  learn(log);
}

void LiveEvents::learn(const fs::path& log) {
  if (!fs::exists(log)) return;
  for_each_row(read_part(log, 0, most_learned),
               [&](const std::string&, const Json&, const ScopeLoops& loops) { steps_.learn(loops); });
}

void LiveEvents::take(std::string_view lines) noexcept {
  if (is_over_) return;
  try {
    file_.append(records_of(lines));
  } catch (const std::exception& problem) {
    is_over_ = true;
    tell(problem.what());
  }
}

std::string LiveEvents::records_of(std::string_view lines) {
  std::string records;
  for_each_row(lines, [&](const std::string& name, const Json& value, const ScopeLoops& loops) {
    steps_.learn(loops);
    rows_.add(records, name, value, {wall_seconds(), steps_.step_of(loops, name)});
  });
  return records;
}

}  // namespace flor::core
