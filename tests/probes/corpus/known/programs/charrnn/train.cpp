// Characters: an LSTM that reads a text from end to end; its hidden state goes on from chunk to chunk.
#include <flor/flor.h>
#include <torch/torch.h>

#include <algorithm>
#include <bitset>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

const std::string kText = "it was the best of times, it was the worst of times, it was the age of wisdom";

struct RnnImpl : torch::nn::Module {
  RnnImpl(int64_t symbols, int64_t hidden)
      : embed(register_module("embed", torch::nn::Embedding(symbols, hidden))),
        lstm(register_module("lstm", torch::nn::LSTM(hidden, hidden))),
        out(register_module("out", torch::nn::Linear(hidden, symbols))) {}

  std::tuple<torch::Tensor, std::tuple<torch::Tensor, torch::Tensor>> forward(
      const torch::Tensor& x, const std::tuple<torch::Tensor, torch::Tensor>& hidden) {
    auto [y, next] = lstm(embed(x).unsqueeze(1), hidden);
    ++calls;
    last_hidden = std::get<0>(next).detach();
    return {out(y.squeeze(1)), next};
  }

  torch::nn::Embedding embed;
  torch::nn::LSTM lstm;
  torch::nn::Linear out;
  torch::Tensor last_hidden;
  int64_t calls = 0;
};
TORCH_MODULE(Rnn);

torch::Tensor encode(const std::string& text) {
  auto codes = torch::empty({static_cast<int64_t>(text.size())}, torch::kInt64);
  for (size_t i = 0; i < text.size(); ++i)
    codes[static_cast<int64_t>(i)] = static_cast<int64_t>(text[i] & 127);
  return codes;
}

// The character that the net takes for the likeliest behind `c`.
char likeliest(Rnn& net, char c) {
  torch::NoGradGuard no_grad;
  const int64_t hidden = net->out->options.in_features();
  const auto zero = torch::zeros({1, 1, hidden});
  const auto logits = std::get<0>(net(encode(std::string(1, c)), std::make_tuple(zero, zero)));
  return static_cast<char>(logits[0].argmax().item<int64_t>());
}

}  // namespace

int main(int argc, char** argv) {
  torch::manual_seed(9);
  const int64_t epochs = argc > 1 ? std::stoll(argv[1]) : 25, hidden = 32, chunk = 11;
  const auto codes = encode(kText);
  Rnn net(128, hidden);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(flor::arg("lr", 5e-3)));
  torch::Tensor h = torch::zeros({1, 1, hidden}), c = torch::zeros({1, 1, hidden});
  std::string transcript;
  std::bitset<128> met;
  std::map<char, int64_t> misses;
  std::vector<torch::Tensor> states;
  double sharpest = 0;
  std::ofstream trace("trace.csv");

  auto state = flor::checkpointing(net, optimizer, h);
  for (const int64_t epoch : flor::loop("epoch", epochs)) {
    if (flor::SkipBlock train{"train", net, optimizer, h}; train.step_into()) {
      for (int64_t at = 0; at + chunk < codes.size(0); at += chunk) {
        const auto x = codes.slice(0, at, at + chunk), y = codes.slice(0, at + 1, at + chunk + 1);
        optimizer.zero_grad();
        const auto [logits, next] = net(x, std::make_tuple(h, c));
        const auto loss = torch::nn::functional::cross_entropy(logits, y);
        loss.backward();
        torch::nn::utils::clip_grad_norm_(net->parameters(), 5.0);
        optimizer.step();
        std::tie(h, c) = next;
        h = h.detach();
        c = c.detach();
        const auto guess = logits.argmax(1);
        for (int64_t i = 0; i < chunk; ++i) {
          const char wanted = static_cast<char>(y[i].item<int64_t>());
          met.set(static_cast<size_t>(wanted));
          if (guess[i].item<int64_t>() != y[i].item<int64_t>()) ++misses[wanted];
        }
        transcript += static_cast<char>(guess[0].item<int64_t>());
        states.push_back(h.clone());
        sharpest = std::max(sharpest, logits.detach().softmax(1).max().item<double>());
        trace << at << ',' << loss.item<double>() << '\n';
      }
    }
    std::printf("%3d %c\n", static_cast<int>(epoch), likeliest(net, 't'));
    flor::log("out_norm", net->out->weight.norm().item<double>());
  }
  std::printf("%s\n", "end");
  return 0;
}
