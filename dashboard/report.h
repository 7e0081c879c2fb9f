// Writes the dashboard's page of one run as a file that opens from disk, without a server.
#pragma once

#include <string>
#include <vector>

#include "core/store/store.h"

namespace flor::dashboard {

struct Report {
  std::string html;
  // What the file leaves out.
  std::vector<std::string> notes;
};

// The page of the run, and of its replays; `replay`: the id of the one that is shown first, "" for the run.
// Throws core::Error for what is damaged.
Report report_of(const core::Store& store, const core::RunDir& run, const std::string& replay);

}  // namespace flor::dashboard
