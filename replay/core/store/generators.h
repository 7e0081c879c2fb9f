// Writes and reads generators.jsonl: the states of the random number generators at each entry and exit of a
// block, at each entry of a main-loop iteration, at the exit of the loop, and before steps with a checkpoint
// (docs/semantics.md, rule 5). A state that occurred before is only named by its digest.
//
// A Mersenne Twister has 2.5 to 7 kB, and a loop may have millions of iterations. So from a size of the file
// on, states are written only where a replay or a resumption needs them. The other places then name digests
// of states that the file does not have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/json.h"

namespace flor::core {

// Maps a generator to the bytes of its state.
using GeneratorStates = std::map<std::string, std::string>;

std::string base64(const std::string& bytes);
// Throws Error where the text is not base64.
std::string from_base64(std::string_view text);

// A digest in binary form: there may be millions of them.
using StateId = std::array<unsigned char, 16>;
struct StateIdHash {
  std::size_t operator()(const StateId& id) const noexcept;
};

// Makes the lines to append for the states at scope path `at`. `edge` is "entry" or "exit". Not thread-safe.
class GeneratorWriter {
 public:
  // Bytes of the file from which on states are left out.
  static constexpr std::size_t most_written = std::size_t{64} << 20;

  GeneratorWriter() = default;
  // Goes on with the file of an earlier attempt: counts its bytes, and does not write its states again.
  // Throws as for_each_line_of().
  explicit GeneratorWriter(const std::filesystem::path& earlier);

  // `is_needed`: a replay or a resumption may be entered here. `is_short`: there is room for no other states.
  std::vector<std::string> lines(const std::string& at, const char* edge, const GeneratorStates& states,
                                 bool is_needed = false, bool is_short = false);

 private:
  // Of the states that were written.
  std::unordered_set<StateId, StateIdHash> known_;
  std::size_t written_ = 0;
};

// The states that a run recorded, by place. Each state is held once. A place may name a state that is not
// there: it was left out, or a store that failed for a moment lost its line. Such a place has digests only.
class GeneratorLog {
 public:
  // Tells whether the states of a place are held.
  using Wanted = std::function<bool(std::string_view at)>;
  static bool none(std::string_view /*at*/) { return false; }

  // Reads a file in parts. Without `wanted` holds all that there is. With it holds the wanted places alone,
  // and verifies no other states. An absent file reads as empty. Throws as for_each_line_of(), and Error
  // where a state does not match its digest.
  explicit GeneratorLog(const std::filesystem::path& path, const Wanted& wanted = nullptr);
  // Takes the rows of such a file.
  GeneratorLog(const std::vector<Json>& rows, const std::string& file);

  // Verifies all states of a file, and holds none. Throws as the constructor.
  static void verify(const std::filesystem::path& path);

  // Returns std::nullopt where not all states of the place are there.
  std::optional<GeneratorStates> at(const std::string& at, const char* edge) const;
  // Returns a text like "cpu DIGEST" for the first generator whose state was another at the place, and what
  // it is in `present`. Returns std::nullopt where none is known to differ. Generators that only one side has
  // are not compared.
  struct Difference {
    std::string recorded, present;
  };
  std::optional<Difference> difference(const std::string& at, const char* edge,
                                       const GeneratorStates& present) const;

 private:
  struct Named {
    std::uint32_t generator = 0;
    StateId state{};
  };
  struct Range {
    std::uint32_t first = 0, count = 0;
  };
  // `digest` must be that of the state.
  void hold_state(std::string state, std::string_view digest);
  void add_place(const Json& row);
  const Range* place(const std::string& at, const char* edge) const;

  std::vector<std::string> generators_;
  // The digest of a place, with its edge, tells its part of named_.
  std::unordered_map<StateId, Range, StateIdHash> places_;
  std::vector<Named> named_;
  std::unordered_map<StateId, std::string, StateIdHash> states_;
};

}  // namespace flor::core
