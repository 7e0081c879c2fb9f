#include "core/materialize/contention.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace flor::core {

std::optional<double> waited_for_processors() {
  const std::string own = std::to_string(::syscall(SYS_gettid));
  std::error_code error;
  std::optional<double> waited;
  for (std::filesystem::directory_iterator at("/proc/self/task", error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().filename() == own) continue;
    std::ifstream in(at->path() / "schedstat");
    double ran = 0;
    double ready = 0;
    if (in >> ran >> ready) waited = waited.value_or(0) + ready * 1e-9;
  }
  return waited;
}

}  // namespace flor::core
