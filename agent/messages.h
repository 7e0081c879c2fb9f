// Parses and checks the requests of the agent protocol (docs/formats.md, "Agent protocol"), before a session
// handles them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/base/error.h"
#include "core/base/json.h"

namespace flor::agent {

constexpr std::size_t max_line = std::size_t{64} * 1024;  // in bytes, with the newline
constexpr int protocol_version = 1;

// A request that makes no sense or cannot be served. The answer is {"ok":false}, and the connection is
// closed.
class Refusal : public core::Error {
 public:
  using core::Error::Error;
};

struct HelloReplay {
  std::string run_dir, replay, worker, redis;  // redis: empty for the agent's own
  std::string node, gpu, job, task;
  int64_t pid = 0;
  std::string segment, fence;  // a lease that the worker already holds; else empty
  int64_t hi = 0;              // the end of that segment, as the worker knows it
};
struct HelloRecord {
  std::string run, run_dir;
  std::string local;  // the run's directory in the local tier; empty if it uses none
};
struct ClaimRequest {
  int64_t from = -1;
  std::optional<int64_t> left;  // seconds until the worker's job ends
};
struct ProgressRequest {
  std::string segment;
  int64_t unit = 0;
};
// Sent by recordings of earlier versions at the end of an iteration. The agent answers it and looks through
// the local tier; the place in the loop is not used.
struct RecordProgress {};
struct CommitRequest {
  std::string segment;
  int64_t unit = 0;
  std::string digest;
  int64_t bytes = 0;
  double seconds = 0;
};
struct ReleaseRequest {
  std::string segment, error;
};
struct SpoolRequest {};

using Request = std::variant<HelloReplay, HelloRecord, ClaimRequest, ProgressRequest, RecordProgress,
                             CommitRequest, ReleaseRequest, SpoolRequest>;

// Parses a line without its newline. Checks the length of each text, the range of each number, that ids are
// valid and that paths are absolute. Throws Refusal with a text of one line that names the field.
Request parse_request(std::string_view line);

// Returns the line of the answer to a Refusal, without the newline.
std::string refusal_line(const std::string& why);

}  // namespace flor::agent
