// Decides who may see the dashboard. Pure.
//
// A page of an attacker, open in the user's browser, can send requests to this server. It gets no answer:
// its requests name another Origin; a name that it has rebound to this machine (DNS rebinding) is no Host
// of this server; and it does not have the token. Another user of this machine can connect as well, and
// does not have the token either.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dashboard/http/message.h"

namespace flor::dashboard {

struct Guard {
  std::string token;
  // Names of this machine that a browser may use, besides localhost and addresses.
  std::vector<std::string> hosts;
};

// Returns the answer that ends the request here; std::nullopt where it may go on. A link with the token
// (?token=…) leads to the same page without it, and leaves the token in a cookie.
std::optional<Response> refusal(const Guard& guard, const Request& request);

// Compares without telling by its time how much is equal.
bool is_same_secret(const std::string& a, const std::string& b);

}  // namespace flor::dashboard
