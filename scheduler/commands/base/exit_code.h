// Exit codes of every command.
#pragma once

namespace flor::commands {

enum ExitCode : int { kDone = 0, kFailed = 1, kUsage = 2, kDiffers = 3, kUnproved = 4 };

}  // namespace flor::commands
