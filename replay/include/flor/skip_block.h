// flor::SkipBlock: a block whose side effects are memoized. flor::checkpointing: the complete state of an
// iteration.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "flor/archive.h"

namespace flor {

// if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) { … }
//
// `objects` are the variables that the block changes and that are used behind it: modules, holders and shared
// pointers of modules, optimizers, LR schedulers, tensors, generators, numbers, strings, std::vectors of
// these, and types with the hook of flor/archive.h. They are taken by reference and must outlive the block.
//
// The block belongs into the `if` as above, so that its end is the end of the block's braces: there the
// policy decides, and the state is copied (at most two copies are held at a time). Not thread-safe. Throws
// nothing.
class FLOR_API SkipBlock {
 public:
  template <class... T>
  explicit SkipBlock(const std::string& name, T&... objects)
      : SkipBlock(name, std::unique_ptr<Objects>(new ObjectsOf<T...>(objects...))) {}
  ~SkipBlock();
  SkipBlock(const SkipBlock&) = delete;
  SkipBlock& operator=(const SkipBlock&) = delete;

  // True: execute the block. False: its recorded effects have been restored.
  // Always true outside flor and while recording.
  bool step_into();

 private:
  SkipBlock(const std::string& name, std::unique_ptr<Objects> objects);
  struct Impl;
  std::unique_ptr<Impl> impl_;
  const int exceptions_ = std::uncaught_exceptions();
};

// While it lives, each iteration of the main loop ends with a checkpoint of `objects` when the policy agrees.
class FLOR_API Checkpointing {
 public:
  explicit Checkpointing(std::unique_ptr<Objects> objects);
  ~Checkpointing();
  Checkpointing(const Checkpointing&) = delete;
  Checkpointing& operator=(const Checkpointing&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// auto state = flor::checkpointing(net, optimizer, scheduler, best);   in front of the main loop
//
// Declares that `objects` are everything that one iteration leaves to the next (random number generators need
// not be named): then a replay resumes at any checkpoint instead of running from the start. What is forgotten
// keeps a stale value after a jump; `flor check --complete` finds that.
template <class... T>
[[nodiscard]] Checkpointing checkpointing(T&... objects) {
  return Checkpointing(std::unique_ptr<Objects>(new ObjectsOf<T...>(objects...)));
}

}  // namespace flor
