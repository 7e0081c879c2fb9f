// Removes a directory with its content, safely in a place where other users can write.
#pragma once

#include <cstddef>
#include <filesystem>

namespace flor::gc {

// Follows no link below the parent of `path`: opens each directory by its name in the one above, and removes
// a link itself. Uses few descriptors and little stack, however deep the tree is. Does nothing if `path` does
// not exist. Throws std::system_error, which names the path, and core::Error if another user owns `path`.
//
// Its owner can fill a tree as fast as it is emptied, and would keep root's `flor gc` for ever. So at most
// `most_more` entries are removed more than walk() finds at first (walk.h: it does not go deeper than 32
// directories). Then core::Error is thrown, and what is left stays for the next time.
void remove_tree(const std::filesystem::path& path, std::size_t most_more = 100'000);

}  // namespace flor::gc
