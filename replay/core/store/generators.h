// Writes and reads generators.jsonl: the states of the random number generators at each entry and exit of a
// block, at each entry of a main-loop iteration, at the exit of the loop, and before steps with a checkpoint
// (docs/semantics.md, rule 5). A state that occurred before is only named by its digest.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/json.h"

namespace flor::core {

// Maps a generator to the bytes of its state.
using GeneratorStates = std::map<std::string, std::string>;

std::string base64(const std::string& bytes);
// Throws Error where the text is not base64.
std::string from_base64(const std::string& text);

// Makes the lines to append for the states at scope path `at`. `edge` is "entry" or "exit". Not thread-safe.
class GeneratorWriter {
 public:
  std::vector<std::string> lines(const std::string& at, const char* edge, const GeneratorStates& states);

 private:
  // Digests of the states that were written.
  std::unordered_set<std::string> known_;
};

// The states that a run recorded, by place. A store that failed for a moment may have lost the line of a
// state: the places that name it then count as not recorded. The constructor throws Error where a state does
// not match its digest.
class GeneratorLog {
 public:
  explicit GeneratorLog(const std::vector<Json>& rows, const std::string& file);

  // Returns nullptr where nothing was recorded. The pointer is valid as long as the log.
  const GeneratorStates* at(const std::string& at, const char* edge) const;

 private:
  std::unordered_map<std::string, GeneratorStates> states_;
};

}  // namespace flor::core
