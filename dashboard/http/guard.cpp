#include "dashboard/http/guard.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace flor::dashboard {
namespace {

Response denied(int status, const std::string& why) {
  return {status, "text/plain; charset=utf-8", why + "\n"};
}

// Returns the host of "host:port", without the brackets of an IPv6 address.
std::string host_of(std::string_view text) {
  if (!text.empty() && text.front() == '[') return std::string(text.substr(1, text.find(']') - 1));
  return std::string(text.substr(0, text.rfind(':')));
}

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

std::string lower(std::string text) {
  for (char& letter : text)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return text;
}

// An attacker can have any name resolved to this machine, but not an address or localhost.
bool is_host_of_ours(const Guard& guard, const std::string& host) {
  const std::string name = lower(host_of(host));
  return name == "localhost" || is_address(name) ||
         std::any_of(guard.hosts.begin(), guard.hosts.end(),
                     [&](const std::string& own) { return lower(own) == name; });
}

bool needs_token(const std::string& path) {
  return path.rfind("/data/", 0) == 0 || path == "/events" || path == "/metrics";
}

bool has_token(const Guard& guard, const Request& request) {
  const auto is = [&request](const std::string& token) {
    return !token.empty() && is_same_secret(request.authorization, "Bearer " + token);
  };
  return is(guard.token) || (request.target.path == "/metrics" && is(guard.metrics_token));
}

}  // namespace

bool is_same_secret(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

std::optional<Response> refusal(const Guard& guard, const Request& request) {
  if (request.method != "GET") {
    Response out = denied(405, "the dashboard only shows: use GET");
    out.headers.emplace_back("Allow", "GET");
    return out;
  }
  if (!is_host_of_ours(guard, request.host))
    return denied(403, "this server does not answer to the name '" + host_of(request.host) +
                           "'; open it by localhost or its address, or start it with --name HOST");
  const std::string& origin = request.origin;
  if (!origin.empty() && origin != "http://" + request.host && origin != "https://" + request.host)
    return denied(403, "a page of " + origin + " may not read this server");
  if (needs_token(request.target.path) && !has_token(guard, request))
    return denied(401, "open the link that `flor serve` printed: it has a token");
  return std::nullopt;
}

}  // namespace flor::dashboard
