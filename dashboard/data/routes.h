// Serves the page's files, and the data that it shows as JSON. docs/dashboard.md lists the
// addresses.
#pragma once

#include "core/store/store.h"
#include "dashboard/data/replays.h"
#include "dashboard/data/series.h"
#include "dashboard/data/times.h"
#include "dashboard/http/message.h"

namespace flor::dashboard {

// Thread-safe.
class Routes {
 public:
  explicit Routes(core::Store store) : store_(std::move(store)) {}

  // What is not there is an answer with status 404. Throws core::Error for what is damaged.
  Response answer(const Request& request);

  // Returns the seconds that an answer which all viewers ask for took of late.
  double seconds() const { return replays_.seconds(); }

 private:
  Response data(const std::string& path, const Target& target);
  core::Json run(const core::RunDir& run);
  core::Json series(const core::RunDir& run, const Target& target);
  core::Json summary(const core::RunDir& run);
  core::Json tensors(const core::RunDir& run, const Target& target);
  core::Json image(const core::RunDir& run, const Target& target);

  const core::Store store_;
  RowCache rows_;
  TimesCache times_;
  ReplayCache replays_;
};

struct PageFile {
  const char* type;
  std::string_view text;
};
// Returns the file of the page that lies at this path ("/page/app.js"); nullptr for none.
const PageFile* page_file(std::string_view path);

}  // namespace flor::dashboard
