#include "agent.h"

namespace {

torch::Tensor pick(const std::vector<Step>& steps, torch::Tensor Step::*field) {
  std::vector<torch::Tensor> rows;
  rows.reserve(steps.size());
  for (const auto& step : steps) rows.push_back(step.*field);
  return torch::stack(rows);
}

void copy_weights(QNet& to, QNet& from) {
  const torch::NoGradGuard no_grad;
  const auto source = from->parameters();
  auto sink = to->parameters();
  for (size_t i = 0; i < sink.size(); ++i) sink[i].copy_(source[i]);
}

}  // namespace

std::vector<Step> ReplayMemory::sample(int64_t count) const {
  const auto at = torch::randint(static_cast<int64_t>(steps_.size()), {count}, torch::kInt64);
  std::vector<Step> drawn;
  for (int64_t i = 0; i < count; ++i) drawn.push_back(steps_[static_cast<size_t>(at[i].item<int64_t>())]);
  return drawn;
}

Agent::Agent(int64_t cells, double lr)
    : cells_(cells), online_(cells), target_(cells), optimizer_(online_->parameters(), lr) {
  copy_weights(target_, online_);
}

void Agent::explore(int64_t episodes) {
  if (flor::SkipBlock explore{"explore", online_}; explore.step_into()) {
    Walk walk(cells_);
    const torch::NoGradGuard no_grad;
    for (int64_t episode = 0; episode < episodes; ++episode) {
      walk.reset();
      double gained = 0;
      for (bool over = false; !over;) {
        const auto before = walk.observe();
        const bool random = torch::rand({1}).item<double>() < epsilon();
        const auto action = random ? torch::randint(2, {1}, torch::kInt64).item<int64_t>()
                                   : online_(before).argmax().item<int64_t>();
        const auto outcome = walk.move(action);
        over = outcome.over;
        gained += outcome.reward;
        if (outcome.reward < -0.5) ++falls_;
        memory_.push({before, walk.observe(), action, outcome.reward, over});
        ++frames_;
      }
      best_return_ = std::max(best_return_, gained);
    }
  }
}

double Agent::improve(int64_t updates) {
  double total = 0;
  if (flor::SkipBlock improve{"improve", online_, target_, optimizer_}; improve.step_into()) {
    for (int64_t update : flor::loop("update", updates)) {
      if (update % 25 == 0) copy_weights(target_, online_);
      const auto steps = memory_.sample(64);
      std::vector<int64_t> actions;
      std::vector<float> rewards, goes_on;
      for (const auto& step : steps) {
        actions.push_back(step.action);
        rewards.push_back(static_cast<float>(step.reward));
        goes_on.push_back(step.over ? 0.0F : 1.0F);
      }
      const auto taken = torch::tensor(actions, torch::kInt64).unsqueeze(1);
      const auto value = online_(pick(steps, &Step::before)).gather(1, taken).squeeze(1);
      const auto ahead = std::get<0>(target_(pick(steps, &Step::after)).detach().max(1));
      const auto wanted = torch::tensor(rewards) + 0.97 * ahead * torch::tensor(goes_on);
      const auto loss = torch::nn::functional::smooth_l1_loss(value, wanted);
      optimizer_.zero_grad();
      loss.backward();
      optimizer_.step();
      total += loss.item<double>();
      if (update % 50 == 0) flor::log("td_loss", loss.item<double>());
    }
  }
  return total / static_cast<double>(updates);
}

double Agent::greedy_return(int64_t episodes) {
  const torch::NoGradGuard no_grad;
  double sum = 0;
  for (int64_t episode = 0; episode < episodes; ++episode) {
    Walk walk(cells_);
    bool over = false;
    while (!over) {
      const auto outcome = walk.move(online_(walk.observe()).argmax().item<int64_t>());
      sum += outcome.reward;
      over = outcome.over;
    }
  }
  return sum / static_cast<double>(episodes);
}
