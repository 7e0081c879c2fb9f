// Removes a directory with all that is in it.
#pragma once

#include <filesystem>

namespace flor::gc {

// Follows no link on its way down: each directory is opened by its name in the one above, and a link is
// removed itself. However deep the tree is, few descriptors and little of the stack
// are used. What does not exist is removed already. Throws std::system_error that names the path,
// core::Error where `path` is another user's directory.
void remove_tree(const std::filesystem::path& path);

}  // namespace flor::gc
