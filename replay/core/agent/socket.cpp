#include "core/agent/socket.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "core/base/error.h"
#include "core/config/settings.h"
#include "core/files/private_directory.h"

namespace flor::core {

namespace fs = std::filesystem;

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
  return (own_directory_in("/tmp") / name).string();
}

}  // namespace flor::core
