// flor::SkipBlock: a block whose side effects are recorded, so that it can be skipped. flor::checkpointing:
// the complete state of an iteration.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "flor/archive.h"

namespace flor {

// A block whose side effects are recorded, so that a replay can restore them instead of executing it:
//
//   if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) { … }
//
// `objects`: the variables that the block changes and later code uses. Allowed: modules, holders and shared
// pointers of modules, optimizers, LR schedulers, tensors, generators, numbers, strings, std::vectors of
// these, and types with the hook of flor/archive.h. They are taken by reference and must outlive the block.
//
// Write it inside the `if` as above, so that it is destroyed at the closing brace of the block. The
// destructor decides whether a checkpoint is worth its cost, and copies what changed of the state. Not
// thread-safe. Never throws.
class FLOR_API SkipBlock {
 public:
  template <class... T>
  explicit SkipBlock(const std::string& name, T&... objects)
      : SkipBlock(name, std::unique_ptr<Objects>(new ObjectsOf<T...>(objects...))) {}
  ~SkipBlock();
  SkipBlock(const SkipBlock&) = delete;
  SkipBlock& operator=(const SkipBlock&) = delete;

  // Returns true if the block must be executed, false if its recorded effects were restored. Always true
  // outside flor. Call it once. While recording, false only where a resumed recording restores the block.
  bool step_into();

 private:
  SkipBlock(const std::string& name, std::unique_ptr<Objects> objects);
  struct Impl;
  std::unique_ptr<Impl> impl_;
  const int exceptions_ = std::uncaught_exceptions();
};

// A guard. While it lives, each iteration of the main loop ends with a checkpoint of its objects, where the
// policy agrees. A guard that is created inside an iteration does the same for the steps of the next loop
// there. Create it with flor::checkpointing().
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

// Guard for the state of an iteration, placed before the main loop:
//
//   auto state = flor::checkpointing(net, optimizer, scheduler, best);
//
// Declares that `objects` are everything that one iteration passes to the next. They are taken by reference,
// and must outlive the guard. Random number generators need not be named. Then a replay can resume at any
// checkpoint instead of running from the start. A forgotten object keeps a stale value where a replay resumes
// at a checkpoint; `flor check --complete` finds that.
template <class... T>
[[nodiscard]] Checkpointing checkpointing(T&... objects) {
  return Checkpointing(std::unique_ptr<Objects>(new ObjectsOf<T...>(objects...)));
}

}  // namespace flor
