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

void GeneratorRoom::refused() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  quota_.note();
  is_short_ = true;
}

void GeneratorRoom::look() noexcept {
  looked_at_ = written_;
  try {
    // As a checkpoint of all that there is would be asked for.
    const std::uint64_t bytes = written_ + portion;
    is_short_ = !why_no_bytes(directory_, bytes).empty() || !quota_.leaves(directory_, 3 * bytes, 1);
  } catch (const std::exception&) {
    // No memory for a path. The next look will tell.
  }
}

}  // namespace flor::core
