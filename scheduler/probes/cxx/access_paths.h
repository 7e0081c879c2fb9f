// Access paths: what an expression names, as far as each of its parts has a name.
//
// `a.b` and `a::b` are "a.b". What a pointer refers to is a part named "*": `a->b` is "a.*.b". `this->a` is
// "this.a". A path contains all paths that begin with it.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "probes/cxx/tree.h"

namespace flor::probes {

// Returns whether the token is `.`, `->` or `::`.
bool is_member_access(const Tree& tree, std::size_t token);

// Returns the path at a word, up to `end`. `behind`: the token after it.
std::string access_path_at(const Tree& tree, std::size_t word, std::size_t end, std::size_t& behind);

// Returns "a" for "a.size", the path of `a.size()`. A single name stays: it may be a variable that is called.
std::string without_method(const std::string& path);

// Returns the paths in [begin, end): for `a.b(c[i].d)` "a", "c" and "i".
std::set<std::string> access_paths_in(const Tree& tree, std::size_t begin, std::size_t end);

// Returns "a->b" for "a.*.b", for messages.
std::string source_text(std::string path);

// Returns whether one path equals or contains the other. `this->a` may be `a`.
bool overlap(const std::string& path, const std::string& other);

// Returns the variables at the start of the paths. For "this.a" also `a`.
std::set<std::string> variables_of(const std::set<std::string>& paths);

// Returns the paths that arguments in [begin, end) restore: `net`, `a.b`, `this->x`. For `*p` what it refers
// to, "p.*". Any other form restores nothing that is known.
std::set<std::string> held_by_arguments(const Tree& tree, std::size_t begin, std::size_t end);

// Returns whether one of `held` contains the path. A pointer (a module holder) does not contain what it
// refers to: only the parameters of a module are state, not its other members.
bool is_held(const std::set<std::string>& held, std::string path);

}  // namespace flor::probes
