// Answers the question of `flor replay`: finds or begins a replay, starts its workers, watches them, and
// gives the verdict.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "commands/replay/backend.h"
#include "commands/replay/replay_request.h"

namespace flor::commands {

// How a question is answered, by the flags of `flor replay`.
struct Manner {
  std::string store;
  std::optional<std::size_t> workers;  // nullopt: as many as there are places
  WorkplaceFlags place;
  bool json = false;
  bool dry_run = false;     // start nothing, show what would run
  bool again = false;       // reuse no rows of earlier replays
  bool copies = true;       // may a second worker execute what a slow one is executing?
  bool keep_queue = false;  // leave the keys of the finished replay in Redis
};

// Answers a question, and asks again with more executed where a proof contradicts an answer, or where a
// worker finds that it lacks state. Returns the exit code. Throws core::UsageError as ask() does, and
// core::Error.
int answer(const Manner& manner, Request request);

}  // namespace flor::commands
