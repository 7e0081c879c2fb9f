#include "launch.h"

namespace flor::spank {

std::string launch_id(std::uint32_t job, std::uint32_t step, const char* restart) {
  return std::to_string(job) + "." + (step == kBatchStep ? "batch" : std::to_string(step)) + "." +
         (restart == nullptr || *restart == '\0' ? "0" : restart);
}

std::string launch_file(const std::string& store, const std::string& launch) {
  return store + "/.launches/" + launch;
}

std::string begun_file(const std::string& store, const std::string& launch) {
  return store + "/.launches/." + launch + ".begun";
}

}  // namespace flor::spank
