// Finds out which user listens at the other end of a connection on this machine, before Redis (queue/redis.h)
// sends a password there.
// Motivation: while Redis, or the tunnel to it, is down, any user can listen on its port, or at its socket
// if the directory is writable for them. They must not get the password.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace flor::queue {

// A line of /proc/net/tcp or tcp6. The addresses keep the kernel's format: "0100007F:18EB".
struct SocketLine {
  std::string local, remote;
  bool listens = false;
  uid_t owner = 0;
};

// Parses the text of /proc/net/tcp or tcp6. Skips lines that it cannot read. Pure.
std::vector<SocketLine> parse_sockets(const std::string& table);

// Returns the number from which accounts are those of people: UID_MIN in the text of /etc/login.defs if that
// is below 1000, else 1000. Pure.
uid_t first_person_in(const std::string& login_defs);

// Returns true if a process of this user may get the password: the user themselves, root, or another system
// account (redis, stunnel4, …), whose number is below `first_person`. Pure.
bool is_trusted_owner(uid_t owner, uid_t own, uid_t first_person);

// Returns the reason why a password must not be sent on this connection; nullopt if it may be sent, or if the
// other end is on another machine. `socket_path` is the path of a unix socket, or "" for TCP.
std::optional<std::string> why_not_trusted(int connection, const std::string& socket_path);

}  // namespace flor::queue
