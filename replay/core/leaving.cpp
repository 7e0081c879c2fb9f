#include "core/leaving.h"

#include <cstdlib>
#include <utility>

namespace flor::core {
namespace {

std::function<void()>& instead_of_ending() {
  static std::function<void()> instead;
  return instead;
}

[[noreturn]] void on_terminate() {
  try {
    instead_of_ending()();
  } catch (...) {
    // Then it ends as it would have.
  }
  std::abort();
}

}  // namespace

Leaving::Leaving(std::function<void()> instead) {
  instead_of_ending() = std::move(instead);
  before_ = std::set_terminate(on_terminate);
}

Leaving::~Leaving() {
  std::set_terminate(before_);
  instead_of_ending() = nullptr;
}

}  // namespace flor::core
