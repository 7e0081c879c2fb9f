#include <flor/flor.h>
#include <torch/torch.h>

#include <cstdio>

#include "agent.h"

int main() {
  torch::manual_seed(flor::arg("seed", 5));
  const int64_t rounds = flor::arg("rounds", int64_t{40});
  const int64_t cells = 15;

  Agent agent(cells, flor::arg("lr", 1e-3));

  for (int64_t round : flor::loop("round", rounds)) {
    agent.explore(8);
    const double td = agent.improve(100);
    std::printf("round %ld: td %.4f\n", static_cast<long>(round), td);
    flor::log("return", agent.greedy_return(5));
  }
  return 0;
}
