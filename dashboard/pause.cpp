#include "dashboard/pause.h"

#include <algorithm>
#include <cstdint>

namespace flor::dashboard {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds shortest(300);
// A slow file server is spared, and still asked once in two minutes.
constexpr milliseconds longest_for_looks(60'000);
// A replay that another user planted could else keep all news back for minutes.
constexpr double longest_for_answers = 10'000;

}  // namespace

milliseconds pause_after(std::chrono::steady_clock::duration took, double answering) {
  const auto for_looks = std::min(std::chrono::duration_cast<milliseconds>(took * 3), longest_for_looks);
  const milliseconds for_answers(static_cast<int64_t>(std::min(answering * 3000, longest_for_answers)));
  return std::max({shortest, for_looks, for_answers});
}

}  // namespace flor::dashboard
