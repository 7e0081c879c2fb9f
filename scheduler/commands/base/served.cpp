#include "commands/base/served.h"

#include <signal.h>
#include <unistd.h>

#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/config/settings.h"
#include "core/files/durable.h"
#include "core/files/private_directory.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;

// Beside the socket of this user's agent: a directory that no one else can write to.
fs::path note_of(const core::Store& store) {
  const fs::path directory = fs::path(core::agent_socket_path()).parent_path();
  core::make_private_directory(directory, "");
  return directory / ("serve-" + core::digest_of(fs::weakly_canonical(store.path()).string()) + ".json");
}

pid_t pid_in(const core::Json& note) {
  return core::field<pid_t>(note, "pid", 0);
}

}  // namespace

ServedNote::ServedNote(const core::Store& store, const std::string& address) {
  try {
    file_ = note_of(store);
    core::write_durably(file_, core::Json({{"address", address}, {"pid", ::getpid()}}).dump() + "\n", 0600);
  } catch (const std::exception&) {
    file_.clear();
  }
}

ServedNote::~ServedNote() {
  try {
    // Another server of this store may have written its own.
    if (!file_.empty() && pid_in(core::parse_json(core::read_file(file_))) == ::getpid()) fs::remove(file_);
  } catch (const std::exception&) {
    // Its process will be gone.
  }
}

std::optional<std::string> served_address(const core::Store& store) {
  try {
    const core::Json note = core::parse_json(core::read_file(note_of(store)));
    const pid_t pid = pid_in(note);
    const auto address = core::field<std::string>(note, "address", "");
    if (pid <= 0 || ::kill(pid, 0) != 0 || address.empty()) return std::nullopt;
    return address;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace flor::commands
