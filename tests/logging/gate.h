// Holds a worker thread up until the test lets it go on.
#pragma once

#include <future>

namespace flor::test {

class Gate {
 public:
  void pass() const { opened_.wait(); }
  void open() { open_.set_value(); }

 private:
  std::promise<void> open_;
  std::shared_future<void> opened_ = open_.get_future().share();
};

}  // namespace flor::test
