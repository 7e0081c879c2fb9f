// A word-level language model with a learning rate that warms up, and an average of its weights.
#include <flor/flor.h>
#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace nn = torch::nn;

struct VerseModelImpl : nn::Module {
  VerseModelImpl(int64_t words, int64_t width)
      : embed(register_module("embed", nn::Embedding(words, width))),
        lstm(register_module("lstm", nn::LSTM(nn::LSTMOptions(width, width).batch_first(true)))),
        out(register_module("out", nn::Linear(width, words))) {}

  torch::Tensor forward(const torch::Tensor& tokens) {
    const auto [states, last] = lstm(embed(tokens));
    last_hidden = std::get<0>(last).detach();
    ++calls;
    return out(states);
  }

  nn::Embedding embed;
  nn::LSTM lstm;
  nn::Linear out;
  torch::Tensor last_hidden;
  int64_t calls = 0;
};
TORCH_MODULE(VerseModel);

// Linear warm-up, then the inverse square root.
struct WarmUp {
  double peak;
  int64_t steps;

  double rate(int64_t step) const {
    const double at = static_cast<double>(step + 1) / static_cast<double>(steps);
    return peak * (at < 1 ? at : 1 / std::sqrt(at));
  }
};

// Sentences of a made-up language: each word depends on the one in front.
torch::Tensor speak(int64_t sentences, int64_t length, int64_t words) {
  auto text = torch::empty({sentences, length}, torch::kInt64);
  text.select(1, 0).copy_(torch::randint(words, {sentences}, torch::kInt64));
  for (int64_t i = 1; i < length; ++i) {
    const auto jump = torch::randint(3, {sentences}, torch::kInt64);
    text.select(1, i).copy_((text.select(1, i - 1) * 2 + jump) % words);
  }
  return text;
}

torch::Tensor next_word_loss(VerseModel& net, const torch::Tensor& text) {
  const auto length = text.size(1) - 1;
  const auto logits = net(text.narrow(1, 0, length));
  return nn::functional::cross_entropy(logits.flatten(0, 1), text.narrow(1, 1, length).flatten());
}

double perplexity(VerseModel& net, const torch::Tensor& text) {
  const torch::NoGradGuard no_grad;
  net->eval();
  return std::exp(next_word_loss(net, text).item<double>());
}

int main() {
  torch::manual_seed(9);
  const int64_t words = 60, epochs = 18, steps = 40;
  const auto corpus = speak(2000, 13, words);
  const auto reserve = speak(200, 13, words);

  VerseModel net(words, 48);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(1e-3));
  const WarmUp warm_up{flor::arg("peak", 4e-3), 120};
  std::vector<torch::Tensor> average;
  for (const auto& p : net->parameters()) average.push_back(p.detach().clone());
  std::pair<double, int64_t> loss_and_words{0.0, 0};
  double lowest_loss = 1e9;
  int64_t lowest_epoch = 0;
  int64_t quiet_steps = 0;
  double rate = 0;

  auto state = flor::checkpointing(net, optimizer, average);
  for (int64_t epoch : flor::loop("epoch", epochs)) {
    auto& [loss_sum, word_count] = loss_and_words;
    loss_sum = 0;
    word_count = 0;
    if (flor::SkipBlock train{"train", net, optimizer, average}; train.step_into()) {
      net->train();
      for (int64_t step : flor::loop("step", steps)) {
        rate = warm_up.rate(epoch * steps + step);
        for (auto& group : optimizer.param_groups()) {
          static_cast<torch::optim::AdamOptions&>(group.options()).lr(rate);
        }
        const auto rows = torch::randint(corpus.size(0), {32}, torch::kInt64);
        const auto text = corpus.index({rows});
        optimizer.zero_grad();
        const auto loss = next_word_loss(net, text);
        loss.backward();
        const double norm = nn::utils::clip_grad_norm_(net->parameters(), 1.0);
        optimizer.step();
        {
          const torch::NoGradGuard no_grad;
          const auto now = net->parameters();
          for (size_t i = 0; i < now.size(); ++i) average[i].lerp_(now[i], 0.02);
        }
        if (norm < 1.0) ++quiet_steps;
        loss_sum += loss.item<double>() * static_cast<double>(text.numel());
        word_count += text.numel();
        if (loss.item<double>() < lowest_loss) {
          lowest_loss = loss.item<double>();
          lowest_epoch = epoch;
        }
        if (step % 10 == 0) flor::log("loss", loss.item<double>());
      }
    }
    flor::log("perplexity", perplexity(net, reserve));
    std::printf("epoch %d\n", static_cast<int>(epoch));
  }
  return 0;
}
