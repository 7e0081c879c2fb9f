// Prepares the place where the agent of a user listens on a node. agent_socket_path()
// (core/config/settings.h) gives the path.
#pragma once

#include <string>

namespace flor::core {

// Creates the directory of the socket where it is missing. Throws Error where no agent may serve at this
// path: it is too long or relative, or other users could answer in the agent's place.
void prepare_agent_directory(const std::string& socket);

}  // namespace flor::core
