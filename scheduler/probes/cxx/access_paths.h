// Access paths: what an expression names, as far as each part of it has a name.
//
// `a.b` and `a::b` are "a.b"; what a pointer leads to is a part named "*": `a->b` is "a.*.b"; `this->a` is
// "this.a". A path holds those that begin with it.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "probes/cxx/tree.h"

namespace flor::probes {

// Is it `.`, `->` or `::`?
bool is_member_access(const Tree& tree, std::size_t token);

// The path at a word, in front of `end`. `behind`: the token behind it.
std::string access_path_at(const Tree& tree, std::size_t word, std::size_t end, std::size_t& behind);

// Of `a.size()`, whose path is "a.size", "a"; a name alone may be a variable that is called.
std::string without_method(const std::string& path);

// The paths in [begin, end): of `a.b(c[i].d)` "a", "c" and "i".
std::set<std::string> access_paths_in(const Tree& tree, std::size_t begin, std::size_t end);

// "a->b" of "a.*.b", for messages.
std::string source_text(std::string path);

// Is one of the two the other one, or in it? `this->a` may be `a`.
bool overlap(const std::string& path, const std::string& other);

// The variables that the paths begin with; of "this.a", `a` too.
std::set<std::string> variables_of(const std::set<std::string>& paths);

// The paths that arguments in [begin, end) restore: `net`, `a.b`, `this->x`; of `*p` what it leads to,
// "p.*". Of any other argument nobody knows what it holds.
std::set<std::string> held_by_arguments(const Tree& tree, std::size_t begin, std::size_t end);

// Does one of them hold the path? Who holds a pointer (a module holder) does not hold what it leads to:
// members beside a module's parameters are no state.
bool is_held(const std::set<std::string>& held, std::string path);

}  // namespace flor::probes
