// Removes a directory with its content, safely in a place where other users can write.
#pragma once

#include <filesystem>

namespace flor::gc {

// Follows no link below the parent of `path`: opens each directory by its name in the one above, and removes
// a link itself. Uses few descriptors and little stack, however deep the tree is. Does nothing if `path` does
// not exist. Throws std::system_error, which names the path, and core::Error if another user owns `path`.
void remove_tree(const std::filesystem::path& path);

}  // namespace flor::gc
