#include "queue/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/parse_number.h"
#include "core/files/safe_path.h"

namespace flor::queue {
namespace {

constexpr const char* unseen = "who listens there cannot be seen";

// One end of a connection, as text of the kernel's tables. `v4` is for tcp, and empty where the address is
// not IPv4; `v6` is for tcp6.
struct End {
  std::string v4, v6, port;
  in6_addr address{};
};

std::string hex(uint32_t number) {
  std::array<char, 9> text{};
  std::snprintf(text.data(), text.size(), "%08X", number);
  return text.data();
}

End end_of(const sockaddr_storage& from) {
  End out;
  uint16_t port = 0;
  if (from.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(from);
    out.address.s6_addr[10] = out.address.s6_addr[11] = 0xff;
    std::memcpy(&out.address.s6_addr[12], &v4.sin_addr, sizeof v4.sin_addr);
    port = ntohs(v4.sin_port);
  } else {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(from);
    out.address = v6.sin6_addr;
    port = ntohs(v6.sin6_port);
  }
  std::array<uint32_t, 4> words{};
  std::memcpy(words.data(), &out.address, sizeof out.address);
  for (const uint32_t word : words) out.v6 += hex(word);
  if (IN6_IS_ADDR_V4MAPPED(&out.address)) out.v4 = hex(words[3]);
  std::array<char, 6> text{};
  std::snprintf(text.data(), text.size(), ":%04X", port);
  out.port = text.data();
  return out;
}

std::optional<std::string> text_in(const char* file) {
  std::ifstream in(file);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Returns nullopt if the kernel has no such table.
std::optional<std::vector<SocketLine>> sockets(const char* table) {
  const auto text = text_in(table);
  return text ? std::optional(parse_sockets(*text)) : std::nullopt;
}

bool is_trusted(uid_t owner) {
  static const uid_t first_person = first_person_in(text_in("/etc/login.defs").value_or(""));
  return is_trusted_owner(owner, ::getuid(), first_person);
}

std::vector<SocketLine> listeners(const std::vector<SocketLine>& lines, const std::string& local) {
  std::vector<SocketLine> out;
  for (const auto& line : lines) {
    if (line.listens && line.local == local) out.push_back(line);
  }
  return out;
}

// The kernel gives a connection to the listener with the most exact address, so those come first.
std::vector<SocketLine> listeners_at(const End& there, const std::vector<SocketLine>& v4,
                                     const std::vector<SocketLine>& v6) {
  const std::string any4 = hex(0);
  const std::string any6 = any4 + any4 + any4 + any4;
  auto found = there.v4.empty() ? std::vector<SocketLine>() : listeners(v4, there.v4 + there.port);
  if (found.empty()) found = listeners(v6, there.v6 + there.port);
  if (found.empty() && !there.v4.empty()) found = listeners(v4, any4 + there.port);
  if (found.empty()) found = listeners(v6, any6 + there.port);
  return found;
}

std::string strangers(uid_t owner) {
  return "user " + std::to_string(owner) + " listens there, who is neither you nor the system";
}

std::optional<std::string> why_not_over_tcp(const End& here, const End& there) {
  const auto v4 = sockets("/proc/net/tcp");
  const auto v6 = sockets("/proc/net/tcp6");
  if (!v4 && !v6) return std::nullopt;
  const std::vector<SocketLine> none;
  const auto found = listeners_at(there, v4.value_or(none), v6.value_or(none));
  if (found.empty()) return unseen;
  for (const auto& line : found) {
    if (!is_trusted(line.owner)) return strangers(line.owner);
  }
  // Another process may have accepted this connection and closed its listening socket before the present
  // listener came. So the owner of the accepted end is checked, too.
  for (const auto* table : {&v4, &v6}) {
    for (const auto& line : table->value_or(none)) {
      const bool is_other_end = (line.local == there.v4 + there.port && line.remote == here.v4 + here.port) ||
                                (line.local == there.v6 + there.port && line.remote == here.v6 + here.port);
      if (is_other_end && !is_trusted(line.owner)) return strangers(line.owner);
    }
  }
  return std::nullopt;
}

// Also trusts a service whose account looks like a person's, if the socket lies in a directory of its own
// that no one else can write to, and that no one else could have made: anyone can make one in /tmp.
std::optional<std::string> why_not_over_a_socket(int connection, const std::string& path) {
  ucred other{};
  socklen_t size = sizeof other;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &other, &size) != 0) return unseen;
  if (is_trusted(other.uid)) return std::nullopt;
  struct stat directory {};
  const auto parent = std::filesystem::absolute(path).parent_path();
  const bool is_its_own = ::stat(parent.c_str(), &directory) == 0 && directory.st_uid == other.uid &&
                          (directory.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
                          core::is_closed_directory(parent.parent_path(), core::Makers{{other.uid}, {}});
  return is_its_own ? std::nullopt : std::optional(strangers(other.uid));
}

}  // namespace

std::vector<SocketLine> parse_sockets(const std::string& table) {
  std::vector<SocketLine> out;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string slot, state, queues, timer, retransmits, owner;
    SocketLine one;
    words >> slot >> one.local >> one.remote >> state >> queues >> timer >> retransmits >> owner;
    const auto uid = core::parse_number<uid_t>(owner);
    if (!uid || slot == "sl") continue;
    one.listens = state == "0A";
    one.owner = *uid;
    out.push_back(one);
  }
  return out;
}

uid_t first_person_in(const std::string& login_defs) {
  // What useradd(8) takes where the file does not say.
  uid_t first = 1000;
  std::istringstream lines(login_defs);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, value;
    words >> name >> value;
    // A higher number does not count: accounts may be older than the file.
    if (name == "UID_MIN") first = std::min(first, core::parse_number<uid_t>(value).value_or(first));
  }
  return first;
}

bool is_trusted_owner(uid_t owner, uid_t own, uid_t first_person) {
  return owner == own || owner == 0 || owner < first_person;
}

std::optional<std::string> why_not_trusted(int connection, const std::string& socket_path) {
  if (!socket_path.empty()) return why_not_over_a_socket(connection, socket_path);
  sockaddr_storage here{}, there{};
  socklen_t size = sizeof here;
  if (::getsockname(connection, reinterpret_cast<sockaddr*>(&here), &size) != 0) return unseen;
  size = sizeof there;
  if (::getpeername(connection, reinterpret_cast<sockaddr*>(&there), &size) != 0) return unseen;
  const End ours = end_of(here);
  const End theirs = end_of(there);
  // Only this machine's tables can be read. Both ends are here if the address is a loopback (127.*), or if
  // both ends have the same address.
  if (std::memcmp(&ours.address, &theirs.address, sizeof ours.address) != 0 && theirs.v4.rfind("7F", 6) != 6)
    return std::nullopt;
  return why_not_over_tcp(ours, theirs);
}

}  // namespace flor::queue
