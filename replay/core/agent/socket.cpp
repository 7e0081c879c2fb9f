#include "core/agent/socket.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/base/error.h"
#include "core/config/settings.h"
#include "core/files/private_directory.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;

bool is_own_directory(const std::string& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::getuid();
}

// Returns the first sibling by name, so that processes which created two at once agree on one; empty if there
// is none. Since /tmp is sticky, no other user can create one that belongs to this user, or remove it.
std::string first_own_sibling(const std::string& path) {
  std::string first;
  std::error_code error;
  for (fs::directory_iterator at("/tmp", error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().string();
    if (name.rfind(path + ".", 0) != 0 || !is_own_directory(name)) continue;
    if (first.empty() || name < first) first = std::move(name);
  }
  return first;
}

// Another user may create /tmp/flor-UID first. That must not keep this user from replaying on the node.
std::string directory_in_tmp() {
  std::string path = "/tmp/flor-" + std::to_string(::getuid());
  if (::mkdir(path.c_str(), 0700) == 0 || is_own_directory(path)) return path;
  if (first_own_sibling(path).empty()) {
    std::string name = path + ".XXXXXX";
    // The agent will report why it cannot serve there.
    if (::mkdtemp(name.data()) == nullptr) return path;
  }
  return first_own_sibling(path);
}

}  // namespace

void prepare_agent_directory(const std::string& socket) {
  constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
  if (socket.size() > longest) {
    throw Error("the path of the agent's socket is longer than " + std::to_string(longest) +
                " bytes: " + socket + "; choose a shorter one (FLOR_AGENT_SOCKET)");
  }
  const fs::path directory = fs::path(socket).parent_path();
  if (!directory.is_absolute()) throw Error("the agent's socket needs an absolute path, not " + socket);
  make_private_directory(directory, "choose another place (FLOR_AGENT_SOCKET)");
}

std::string agent_socket_path() {
  if (auto path = environment_variable("FLOR_AGENT_SOCKET")) return *path;
  const std::string name = "agent-" + node_name() + ".sock";
  // A job takes the variable to nodes where the user has no session, and so no such directory.
  const auto runtime = environment_variable("XDG_RUNTIME_DIR");
  struct stat info = {};
  if (runtime && ::stat(runtime->c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::getuid())
    return *runtime + "/flor/" + name;
  return directory_in_tmp() + "/" + name;
}

}  // namespace flor::core
