// Decides who may see the dashboard. Pure.
//
// What is shown needs the token, in a header that only the page's own script sends. So neither another user
// of this machine gets it, who can connect as well; nor a page of an attacker in the user's browser, whose
// requests name another Origin, or come by a name that is rebound to this machine (DNS rebinding). The token
// is no cookie: browsers send those to all servers of a host, whatever their port.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dashboard/http/message.h"

namespace flor::dashboard {

struct Guard {
  std::string token;
  // Opens /metrics alone; empty where there is none.
  std::string metrics_token;
  // Names of this machine that a browser may use, besides localhost and addresses.
  std::vector<std::string> hosts;
};

// Returns the answer that ends the request here; std::nullopt where it may go on. The page itself, which is
// the same for everyone, needs no token.
std::optional<Response> refusal(const Guard& guard, const Request& request);

// Compares without telling by its time how much is equal.
bool is_same_secret(const std::string& a, const std::string& b);

}  // namespace flor::dashboard
