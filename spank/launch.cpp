#include "launch.h"

#include "core/base/digest.h"

namespace flor::spank {
namespace {

// Returns where the last `parts` parts of a launch id start.
std::size_t last_parts(const std::string& launch, int parts) {
  std::size_t dot = launch.size();
  for (; parts > 0 && dot != std::string::npos && dot > 0; --parts) dot = launch.rfind('.', dot - 1);
  return dot == std::string::npos ? 0 : dot + 1;
}

}  // namespace

std::string launch_id(const std::string& cluster, std::uint32_t job, std::uint32_t step,
                      const char* restart) {
  return (cluster.empty() ? "" : cluster + ".") + std::to_string(job) + "." +
         (step == kBatchStep ? "batch" : std::to_string(step)) + "." +
         (restart == nullptr || *restart == '\0' ? "0" : restart);
}

std::string job_of_launch(const std::string& launch) {
  return launch.substr(0, last_parts(launch, 2));
}

std::string array_of_launch(const std::string& launch, const std::string& array) {
  return array.empty() ? "" : launch.substr(0, last_parts(launch, 3)) + array;
}

std::string step_of_launch(const std::string& launch) {
  return launch.substr(last_parts(launch, 3), launch.rfind('.') - last_parts(launch, 3));
}

std::string program_digest(const std::string& directory, const std::vector<std::string>& words) {
  std::string text = directory + '\0';
  for (const auto& word : words) text.append(word) += '\0';
  return core::digest_of(text);
}

std::string begun_name(const std::string& launch) {
  return "." + launch + ".begun";
}

}  // namespace flor::spank
