// Where the agent of a user listens on a node. Which path: agent_socket_path() (core/config/settings.h).
#pragma once

#include <string>

namespace flor::core {

// Makes the directory of the socket where it is missing. Throws Error where no agent may serve at this path:
// it is too long or relative, or others could answer in the agent's place.
void prepare_agent_directory(const std::string& socket);

}  // namespace flor::core
