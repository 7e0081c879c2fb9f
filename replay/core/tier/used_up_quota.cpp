#include "core/tier/used_up_quota.h"

#include "core/tier/room.h"

namespace flor::core {
namespace {

// Seconds.
constexpr double untold_pause = 1800;
constexpr double ask_pause = 300;

}  // namespace

bool UsedUpQuota::leaves(const std::filesystem::path& directory, std::uint64_t bytes, int files) {
  if (!since_) return true;
  const double now = now_();
  if (told_no_ && now < *told_no_ + ask_pause) return false;
  const auto answer = is_free(directory, bytes, files);
  if (answer == false) told_no_ = now;
  return answer.value_or(now > *since_ + untold_pause);
}

}  // namespace flor::core
