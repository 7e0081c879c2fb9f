// Inputs that are almost well-formed.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace flor::fuzz {

using Random = std::mt19937_64;

// One of the seeds with one to eight changes: bits, cuts, repetitions, parts of other seeds, numbers at the
// edge of their types, words of JSON and of Redis' protocol.
std::string mutated(const std::vector<std::string>& seeds, Random& random);

}  // namespace flor::fuzz
