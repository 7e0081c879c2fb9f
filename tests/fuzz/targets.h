// What reads text that others may have written: from a socket, from Redis, from a file.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace flor::fuzz {

struct Target {
  std::string name;
  std::vector<std::string> seeds;                      // inputs that are well-formed
  std::function<void(const std::string& input)> read;  // may throw core::Error, and nothing else
};

// Parsers: text in, values out.
std::vector<Target> texts();

// The queue, where Redis answers with anything.
Target replies();

}  // namespace flor::fuzz
