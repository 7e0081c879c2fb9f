#include "core/materialize/copy_turn.h"

#include <chrono>
#include <exception>
#include <thread>

#include "core/files/private_directory.h"

namespace flor::core {

std::optional<CopyTurn> take_copy_turn(const std::filesystem::path& folder) try {
  constexpr std::chrono::seconds patience{1};
  constexpr std::chrono::milliseconds pause{5};
  const std::filesystem::path own = own_directory_in(folder);
  make_private_directory(own, "remove it");
  const auto until = std::chrono::steady_clock::now() + patience;
  while (true) {
    if (auto lock = FileLock::try_take(own / "copying.lock")) return CopyTurn(std::move(lock));
    if (std::chrono::steady_clock::now() >= until) return std::nullopt;
    std::this_thread::sleep_for(pause);
  }
} catch (const std::exception&) {
  return CopyTurn(std::nullopt);
}

}  // namespace flor::core
