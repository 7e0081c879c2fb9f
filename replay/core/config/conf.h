// The text of a flor.conf. Pure; of the standard library alone, for srun's plugin.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace flor::core {

// `key = value`, one a line; # begins a comment. Of a key given twice the last counts; an empty value is
// none.
std::map<std::string, std::string> parse_conf(const std::string& text);

// What a user should be told: lines that are no `key = value`, and keys that Flor does not know.
std::vector<std::string> conf_problems(const std::string& text);

// redis://ada:PASSWORD@host → redis://ada@host, redis://:PASSWORD@host → redis://host,
// unix://ada:PASSWORD@/path → unix://ada@/path; other texts as they are. What an environment may hold: every
// process of a job sees that, and Slurm keeps it.
std::string without_password(const std::string& url);

}  // namespace flor::core
