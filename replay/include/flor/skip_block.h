// flor::SkipBlock: a block whose changes to its objects are recorded, so that it can be skipped.
// flor::checkpointing: checkpoints of all that one iteration leaves to the next.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "flor/archive.h"

namespace flor {

// A block whose changes to `objects` are recorded, so that a replay can restore them instead of executing it:
//
//   if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) { … }
//
// `objects`: the variables that the block changes and later code uses. Allowed: modules, holders and shared
// pointers of modules, optimizers, LR schedulers, tensors, generators, numbers, strings, std::vectors of
// these, and types with the hook of flor/archive.h. The elements of a vector need a default constructor; put
// modules there as shared pointers. Objects are taken by reference and must outlive the block. They are
// recorded by their places, which must stay the same. The default random number generators are included.
//
// Of a module its parameters, buffers, train mode and gradient flags are saved, but no gradients. A restore
// keeps a gradient that is there, makes zeros where only the record had one, and removes one that the record
// did not have. Its other members are not saved: give each as an object of its own, since a hook of a module
// type replaces all this, and is not called for a holder, a shared pointer or a submodule. Of LibTorch's
// optimizers Adam, AdamW, SGD, RMSprop, Adagrad and LBFGS are known; another one ends the recording with a
// warning. Of an LR scheduler only the step count is saved.
//
// Write it inside the `if` as above, so that it is destroyed at the closing brace of the block. The
// destructor decides whether a checkpoint is worth its cost. If it is, it copies the state that changed. Not
// thread-safe. Never throws; but see flor/flor.h on SIGTERM.
class FLOR_API SkipBlock {
 public:
  template <class... T>
  explicit SkipBlock(const std::string& name, T&... objects)
      : SkipBlock(name, std::unique_ptr<Objects>(new ObjectsOf<T...>(objects...))) {}
  ~SkipBlock();
  SkipBlock(const SkipBlock&) = delete;
  SkipBlock& operator=(const SkipBlock&) = delete;

  // Returns true if the block must be executed, false if its recorded effects were restored. Always true
  // outside flor, and while recording, unless a resumed recording restores the block. Call it once: a second
  // call returns true.
  bool step_into();

 private:
  SkipBlock(const std::string& name, std::unique_ptr<Objects> objects);
  struct Impl;
  std::unique_ptr<Impl> impl_;
  const int exceptions_ = std::uncaught_exceptions();
};

// A guard. While it lives, its objects are checkpointed when an outermost loop is entered, and at the end of
// those of its iterations for which that is worth its cost. A second guard, created inside an iteration,
// holds what a step passes to the next. Steps are the iterations of the first loop that is entered while it
// lives, in a block or not. It needs the first guard. Several guards at one place count as one. Create a
// guard with flor::checkpointing(), on the thread that trains. Never throws.
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
// Declares that `objects` (those that SkipBlock allows) are everything that one iteration passes to the next.
// A replay and a resumed recording can then begin at any checkpoint, instead of running from the start.
// Objects are taken by reference, in places that stay the same, and must outlive the guard. The default
// random number generators are included; name any other. A forgotten object keeps a stale value there, also
// in a training that goes on; `flor check --complete` finds that.
template <class... T>
[[nodiscard]] Checkpointing checkpointing(T&... objects) {
  return Checkpointing(std::unique_ptr<Objects>(new ObjectsOf<T...>(objects...)));
}

}  // namespace flor
