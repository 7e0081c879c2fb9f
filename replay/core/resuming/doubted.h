// Tells which checkpoints of iterations a front end that sees what changes has doubts about
// (docs/formats.md, `unheld` rows).
#pragma once

#include <set>
#include <string>

#include "core/store/timeline.h"

namespace flor::core {

class Doubted {
 public:
  // Call for each row of a timeline, in order.
  void take(const TimelineRow& row);
  // May the checkpoint at this scope path lack what the program needs?
  bool has(const std::string& at) const { return unseen_.count(at) != 0 || lacking_.count(at) != 0; }

 private:
  void note(const std::string& block, const std::string& path);
  void note_gradients(bool lack);
  void take_checkpoint(const std::string& at);

  std::set<std::string> taken_;
  // The loop that runs, its newest iteration ("": none yet, or another one has begun its steps), and all that
  // were executed.
  std::string loop_, newest_;
  std::set<std::string> executed_;
  // Loops with iterations that were not looked at, and the checkpoints behind these.
  std::set<std::string> in_doubt_, unseen_;
  // Are gradients used that checkpoints do not have? And these checkpoints, and iterations whose checkpoints,
  // written late, have none of them either.
  bool lacks_gradients_ = false;
  std::set<std::string> lacking_, late_;
};

}  // namespace flor::core
