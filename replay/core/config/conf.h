// Parses the text of a flor.conf. Pure; needs the standard library alone, so that the Slurm plugin can use
// it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace flor::core {

// Returns the settings of a text: one `key = value` a line; # begins a comment. The last of equal keys
// counts. An empty value counts as absent.
std::map<std::string, std::string> parse_conf(const std::string& text);

// Returns what to warn the user about: lines that are no `key = value`, and keys that Flor does not know.
std::vector<std::string> conf_problems(const std::string& text);

// Removes the password from a URL of Redis: redis://ada:PASSWORD@host → redis://ada@host,
// redis://:PASSWORD@host → redis://host, unix://ada:PASSWORD@/path → unix://ada@/path. Leaves other texts as
// they are. An environment may hold only the result: every process of a job sees it, and Slurm keeps it.
std::string without_password(const std::string& url);

}  // namespace flor::core
