#include "core/process/terminate_handler.h"

#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <utility>

namespace flor::core {
namespace {

struct Handler {
  std::function<void(const std::string&)> instead;
  std::terminate_handler before = nullptr;
  pid_t process = 0;
  std::thread::id thread;
};

Handler& handler() {
  static Handler handler;
  return handler;
}

std::string why() {
  const std::exception_ptr thrown = std::current_exception();
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const std::exception& problem) {
    return problem.what();
  } catch (...) {
  }
  return "it ended";
}

[[noreturn]] void on_terminate() {
  const Handler& present = handler();
  // Leaves alone a child that the program forked, and other threads of the program.
  if (present.process == ::getpid() && present.thread == std::this_thread::get_id()) {
    try {
      present.instead(why());
    } catch (...) {
    }
  }
  if (present.before != nullptr) present.before();
  std::abort();
}

}  // namespace

TerminateHandler::TerminateHandler(std::function<void(const std::string& why)> instead) {
  handler() = {std::move(instead), std::get_terminate(), ::getpid(), std::this_thread::get_id()};
  std::set_terminate(on_terminate);
}

TerminateHandler::~TerminateHandler() {
  std::set_terminate(handler().before);
}

}  // namespace flor::core
