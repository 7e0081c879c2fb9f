// Exit codes of every command. docs/reference.md shows the comments.
#pragma once

namespace flor::commands {

enum ExitCode : int {
  // Done. A replay is proved identical.
  kDone = 0,
  // Failed; one line on stderr says why.
  kFailed = 1,
  // Wrong usage: a flag, a name or a value that cannot be.
  kUsage = 2,
  // A replay finished, and its verdict is *differs*.
  kDiffers = 3,
  // A replay finished, and its verdict is *unproved*.
  kUnproved = 4
};

}  // namespace flor::commands
