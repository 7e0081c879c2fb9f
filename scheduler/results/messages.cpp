#include "results/messages.h"

#include <algorithm>

#include "core/files/json_lines.h"

namespace flor::results {
namespace {

using core::Json;

constexpr std::size_t most_messages = 200;
// Bytes at the end of the file in which they are looked for.
constexpr std::size_t tail = std::size_t{1} << 20;

Json json_of(const Message& message) {
  return {{"time", message.time}, {"failure", message.is_failure}, {"text", message.text}};
}

}  // namespace

core::fs::path messages_file(const core::ReplayDir& replay) {
  return replay.path / "messages.jsonl";
}

void keep_message(const core::ReplayDir& replay, const Message& message) noexcept {
  try {
    // Opened for each message, since there are few and the replay's directory may be moved or removed.
    core::LineAppender(messages_file(replay)).append(core::json_text(json_of(message)) + "\n");
  } catch (const std::exception&) {
    // The user has read it.
  }
}

std::vector<Message> read_messages(const core::ReplayDir& replay) {
  std::vector<Message> out;
  try {
    const auto file = messages_file(replay);
    const auto rows = core::parse_json_lines(core::last_lines(file, tail), file.string()).rows;
    const std::size_t first = rows.size() - std::min(rows.size(), most_messages);
    for (std::size_t i = first; i < rows.size(); ++i) {
      out.push_back({core::field<double>(rows[i], "time", 0), core::field<bool>(rows[i], "failure", false),
                     core::field<std::string>(rows[i], "text", "")});
    }
  } catch (const std::exception&) {
    // A damaged line; `flor replay` itself has shown them.
  }
  return out;
}

Json to_json(const std::vector<Message>& messages) {
  Json out = Json::array();
  for (const auto& message : messages) out.push_back(json_of(message));
  return out;
}

}  // namespace flor::results
