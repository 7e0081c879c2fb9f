// A trainer class: a method holds the block and changes members.
#include <flor/flor.h>
#include <nn.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trainer.h"

int main() {
  Trainer trainer(0.08);
  trainer.fit(8);
  return 0;
}
