#include "core/recording/generator_room.h"

#include <exception>
#include <system_error>

#include "core/tier/room.h"

namespace flor::core {
namespace {

constexpr std::uint64_t portion = std::uint64_t{1} << 20;

}  // namespace

void GeneratorRoom::wrote(std::size_t bytes) noexcept {
  if (bytes == 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!has_looked_) {
    std::error_code ignored;
    const auto earlier = std::filesystem::file_size(directory_ / "generators.jsonl", ignored);
    if (!ignored) written_ = earlier;
  }
  written_ += bytes;
  if (has_looked_ && written_ - looked_at_ < portion) return;
  has_looked_ = true;
  look();
}

void GeneratorRoom::look_again() noexcept {
  if (!is_short_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  look();
}

void GeneratorRoom::look() noexcept {
  looked_at_ = written_;
  try {
    // As a checkpoint of all that there is would be asked for. A quota shows in no other way than by trying,
    // which takes for a moment what the program may want: so only where one has refused.
    const std::uint64_t bytes = written_ + portion;
    const bool fits = why_no_room(directory_, bytes).empty() &&
                      (!was_refused_ || is_free(directory_, 3 * bytes).value_or(false));
    is_short_ = !fits;
    if (fits) was_refused_ = false;
  } catch (const std::exception&) {
    // No memory for a path. The next look will tell.
  }
}

}  // namespace flor::core
