#pragma once

namespace flor::commands {

// Exit codes of every command.
enum ExitCode : int { kDone = 0, kFailed = 1, kUsage = 2, kDiffers = 3, kUnproved = 4 };

}  // namespace flor::commands
