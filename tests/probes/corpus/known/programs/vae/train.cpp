// A variational autoencoder; annealing and code statistics.
#include <flor/flor.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace nn = torch::nn;
using torch::indexing::Slice;

struct VaeImpl : nn::Module {
  VaeImpl() {
    encode = register_module("encode", nn::Linear(40, 2 * kCodes));
    decode =
        register_module("decode", nn::Sequential(nn::Linear(kCodes, 64), nn::ReLU(), nn::Linear(64, 40)));
    mean_code = torch::zeros({kCodes});
  }
  std::pair<torch::Tensor, torch::Tensor> forward(const torch::Tensor& x) {
    const auto parts = encode(x).chunk(2, 1);
    const auto kl = -0.5 * (1 + parts[1] - parts[0].pow(2) - parts[1].exp()).sum(1).mean();
    const auto code =
        is_training() ? parts[0] + torch::randn_like(parts[0]) * (0.5 * parts[1]).exp() : parts[0];
    if (is_training()) remember(code.detach());
    return {decode->forward(code), kl};
  }
  void remember(const torch::Tensor& code) { mean_code.mul_(0.99).add_(code.mean(0), 0.01); }

  static constexpr int64_t kCodes = 6;
  nn::Linear encode{nullptr};
  nn::Sequential decode{nullptr};
  torch::Tensor mean_code;
};
TORCH_MODULE(Vae);

class Annealing {
 public:
  explicit Annealing(double rate) : rate_(rate) {}
  double next() { return beta_ = std::min(1.0, beta_ + rate_); }
  double beta() const { return beta_; }
  double rate() const { return rate_; }

 private:
  double rate_, beta_ = 0;
};

class Watcher {
 public:
  Watcher(std::vector<double>& terms, int64_t& active) : terms_(terms), active_(active) {}
  void see(double reconstruction, double kl) {
    terms_[0] += reconstruction;
    terms_[1] += kl;
    active_ = kl > 0.1 ? active_ + 1 : active_;
  }

 private:
  std::vector<double>& terms_;
  int64_t& active_;
};

int main() {
  torch::manual_seed(14);
  const int64_t epochs = 18, steps = 16;
  const auto basis = torch::randn({4, 40});
  Vae net;
  auto optimizer = std::make_unique<torch::optim::Adam>(net->parameters(), torch::optim::AdamOptions(2e-3));
  Annealing annealing(0.004);
  std::vector<double> terms(2);
  int64_t active = 0;
  Watcher watcher(terms, active);
  float raw[VaeImpl::kCodes] = {0};
  std::unordered_map<int64_t, std::vector<double>> by_epoch;
  std::set<int64_t> nearest;
  std::list<torch::Tensor> kept;
  std::variant<int64_t, double> outcome = int64_t{0};
  torch::Tensor canvas = torch::zeros({40, 4});
  torch::Tensor out_buffer = torch::empty({32});
  uint64_t fingerprint = 1469598103934665603ull;
  bool exploded = false;
  double* slot = nullptr;
  double kl_slots[2] = {0, 0};

  for (const int64_t epoch : flor::loop("epoch", epochs)) {
    terms.assign(2, 0.0);
    if (flor::SkipBlock train{"train", net, *optimizer}; train.step_into()) {
      net->train();
      slot = &kl_slots[epoch % 2];
      for (const int64_t step : flor::loop("step", steps)) {
        const auto x = torch::randn({32, 4}).mm(basis);
        optimizer->zero_grad();
        const auto [restored, kl] = net(x);
        const auto error = torch::mse_loss(restored, x);
        const auto loss = error + annealing.next() * kl;
        loss.backward();
        optimizer->step();
        watcher.see(error.item<double>(), kl.item<double>());
        std::memcpy(raw, net->mean_code.data_ptr<float>(), sizeof raw);
        by_epoch[epoch].push_back(error.item<double>());
        nearest.insert((x - restored.detach()).square().sum(1).argmin().item<int64_t>());
        kept.push_front(restored.detach().mean());
        if (kept.size() > 5) kept.pop_back();
        canvas.index_put_({Slice(), step % 4}, restored.detach()[0]);
        torch::mul_out(out_buffer, restored.detach().select(1, 0), x.select(1, 0));
        fingerprint ^= static_cast<uint64_t>(step) + (fingerprint << 6);
        *slot = kl.item<double>();
        if (kl.item<double>() > 10) {
          exploded = true;
          break;
        }
      }
      outcome = terms[0] / static_cast<double>(steps);
    }
    {
      torch::NoGradGuard no_grad;
      net->eval();
      const auto [restored, kl] = net(basis);
      flor::log("basis_error", torch::mse_loss(restored, basis).item<double>());
    }
    if (epoch == 9) std::cout << "half\n";
  }
  std::cout << "done\n";
  return 0;
}
