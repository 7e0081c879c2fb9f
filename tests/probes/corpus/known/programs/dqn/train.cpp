// Q-learning: each episode is played in one block, and learned from in another.
#include <flor/flor.h>
#include <torch/torch.h>

#include <deque>
#include <iostream>
#include <memory>
#include <vector>

#include "env.h"

struct Move {
  torch::Tensor state, next;
  int64_t action;
  double reward;
  bool done;
};

struct Tally {
  double reward = 0;
  int64_t length = 0, explored = 0;
};

torch::nn::Sequential make_net() {
  return torch::nn::Sequential(torch::nn::Linear(2, 32), torch::nn::ReLU(),
                               torch::nn::Linear(32, Well::kActions));
}

void copy_weights(torch::nn::Sequential& to, const torch::nn::Sequential& from) {
  torch::NoGradGuard no_grad;
  auto target = to->parameters();
  auto source = from->parameters();
  for (size_t i = 0; i < target.size(); ++i) target[i].copy_(source[i]);
}

int64_t greedy(torch::nn::Sequential& net, const torch::Tensor& state) {
  torch::NoGradGuard no_grad;
  return net->forward(state).argmax().item<int64_t>();
}

int main(int argc, char** argv) {
  const int64_t episodes = argc > 1 ? std::stoll(argv[1]) : 60;
  const double discount = flor::arg("discount", 0.97), floor = 0.05;
  torch::manual_seed(4);
  auto online = make_net(), target = make_net();
  copy_weights(target, online);
  torch::optim::Adam optimizer(online->parameters(), torch::optim::AdamOptions(1e-3));
  Well well(17);
  std::deque<Move> memory;
  auto tally = std::make_shared<Tally>();
  Tally* const raw = tally.get();
  double epsilon = 1.0, best_return = -1e9;
  int64_t frames = 0;
  std::vector<double> returns;
  torch::Tensor td_errors;

  for (const int64_t episode : flor::loop("episode", episodes)) {
    if (flor::SkipBlock play{"play", epsilon}; play.step_into()) {
      raw->reward = 0;
      raw->length = 0;
      auto now = well.reset();
      for (bool done = false; !done; ++frames) {
        const bool explore = torch::rand({1}).item<double>() < epsilon;
        const int64_t action =
            explore ? torch::randint(Well::kActions, {1}).item<int64_t>() : greedy(online, now);
        auto [next, reward, over] = well.step(action);
        memory.push_back({now, next, action, reward, over});
        if (memory.size() > 5000) memory.pop_front();
        raw->reward += reward;
        ++raw->length;
        if (explore) tally->explored++;
        now = next;
        done = over;
      }
      returns.push_back(tally->reward);
      epsilon = std::max(floor, epsilon * 0.97);
    }
    if (flor::SkipBlock learn{"learn", online, optimizer}; learn.step_into()) {
      for (int64_t i = 0; i < 20; ++i) {
        std::vector<torch::Tensor> states, wanted;
        for (int64_t j = 0; j < 32; ++j) {
          const auto& move = memory[torch::randint(static_cast<int64_t>(memory.size()), {1}).item<int64_t>()];
          torch::NoGradGuard no_grad;
          auto goal = online->forward(move.state).clone();
          const double future = move.done ? 0 : target->forward(move.next).max().item<double>();
          goal[move.action] = move.reward + discount * future;
          states.push_back(move.state);
          wanted.push_back(goal);
        }
        optimizer.zero_grad();
        const auto predicted = online->forward(torch::stack(states));
        td_errors = (torch::stack(wanted) - predicted).detach();
        const auto loss = torch::mse_loss(predicted, torch::stack(wanted));
        loss.backward();
        optimizer.step();
      }
      if (episode % 10 == 9) copy_weights(target, online);
    }
    if (!returns.empty() && returns.back() > best_return) best_return = returns.back();
    flor::log("value_of_rest", online->forward(torch::zeros({2})).max().item<double>());
    std::cout << "episode " << episode << " epsilon " << epsilon << "\n";
  }
  return 0;
}
