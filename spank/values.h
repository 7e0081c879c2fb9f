#pragma once

#include <string>

namespace flor::spank {

// What is wrong and what to do about it, in words for the user; empty: nothing.
using Problem = std::string;

// [A-Za-z0-9][A-Za-z0-9._-]{0,127}: the only thing that is ever joined to a path (docs/formats.md).
bool isId(const std::string& text);

// Of the options' values alone.
Problem checkEpsilon(const std::string& value);
Problem checkStoreName(const std::string& value);
Problem checkLabel(const std::string& value);
Problem checkArgument(const std::string& value);
Problem checkReplay(const std::string& value);
Problem checkProbe(const std::string& value);
Problem checkEpochs(const std::string& value);

}  // namespace flor::spank
