#pragma once

#include <string>

namespace flor::spank {

// What is wrong and what to do about it, in words for the user; empty: nothing.
using Problem = std::string;

// [A-Za-z0-9][A-Za-z0-9._-]{0,127}: the only thing that is ever joined to a path (docs/formats.md).
bool is_id(const std::string& text);

// Of the options' values alone.
Problem check_epsilon(const std::string& value);
Problem check_store_name(const std::string& value);
Problem check_label(const std::string& value);
Problem check_argument(const std::string& value);
Problem check_materializer(const std::string& value);
Problem check_mtbf(const std::string& value);
Problem check_local(const std::string& value);
Problem check_keep(const std::string& value);
Problem check_run(const std::string& value);
Problem check_replay(const std::string& value);
Problem check_probe(const std::string& value);
Problem check_epochs(const std::string& value);

}  // namespace flor::spank
