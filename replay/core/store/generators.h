// generators.jsonl: the states of the random number generators at the entry (and exit) of every execution of
// a block and of every main-loop iteration, checkpointed or not. A state that occurred before is only named.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/json.h"

namespace flor::core {

using GeneratorStates = std::map<std::string, std::string>;  // generator → its state's bytes

std::string base64(const std::string& bytes);
std::string from_base64(const std::string& text);  // throws Error when it is none

// The lines to append for the states at `at`. Not thread-safe.
class GeneratorWriter {
 public:
  std::vector<std::string> lines(const std::string& at, const char* edge, const GeneratorStates& states);

 private:
  std::unordered_set<std::string> known_;  // digests
};

// What a run recorded. Throws Error when the file is damaged (a state whose digest does not match).
class GeneratorLog {
 public:
  explicit GeneratorLog(const std::vector<Json>& rows, const std::string& file);

  // nullptr where nothing was recorded.
  const GeneratorStates* at(const std::string& at, const char* edge) const;

 private:
  std::unordered_map<std::string, GeneratorStates> states_;
};

}  // namespace flor::core
