// Includes Slurm's spank.h for C++. SPANK_PLUGIN defines constants, which in C++ have internal linkage unless
// they were declared extern before. Without these lines the plugin exports nothing, and Slurm ignores it.
#pragma once

extern "C" {
extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;

#include <slurm/spank.h>
}
