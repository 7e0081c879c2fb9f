// Who listens at the other end of a connection on this machine.
// Motivation: while Redis, or the tunnel to it, is down, any user may listen on its port, or at its socket
// where the directory lets them. A password must not go to them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace flor::queue {

// A line of /proc/net/tcp or tcp6: addresses as they stand there, "0100007F:18EB".
struct SocketLine {
  std::string local, remote;
  bool listens = false;
  uid_t owner = 0;
};

// Pure.
std::vector<SocketLine> parse_sockets(const std::string& table);

// Is a password safe with a process of this user? Root's, one's own, and those of system accounts (redis,
// stunnel4, …) are. Pure.
bool is_trusted_owner(uid_t owner, uid_t own);

// Why a password must not be sent on this connection; nothing where it may be, or where the other end is
// another machine's. `socket_path` for a unix socket, else "".
std::optional<std::string> why_not_trusted(int connection, const std::string& socket_path);

}  // namespace flor::queue
