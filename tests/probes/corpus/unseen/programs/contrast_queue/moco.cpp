#include "moco.h"

namespace F = torch::nn::functional;

Moco::Moco() {
  follow(0.0);
}

torch::Tensor Moco::contrast(const torch::Tensor& left, const torch::Tensor& right) {
  const auto q = query(left);
  q.register_hook([this](torch::Tensor grad) { feature_grad = grad.norm().item<double>(); });
  {
    const torch::NoGradGuard no_grad;
    fresh_ = key(right);
  }
  const auto same = (q * fresh_).sum(1, true);
  positive = same.mean().item<double>();
  const auto logits = torch::cat({same, q.matmul(queue.t())}, 1) / 0.1;
  return F::cross_entropy(logits, torch::zeros({left.size(0)}, torch::kInt64));
}

void Moco::follow(double keep) {
  const torch::NoGradGuard no_grad;
  const auto from = query->parameters();
  auto to = key->parameters();
  for (size_t i = 0; i < to.size(); ++i) to[i].mul_(keep).add_(from[i], 1 - keep);
  if (!fresh_.defined()) return;
  queue.narrow(0, head, fresh_.size(0)).copy_(fresh_);
  head += fresh_.size(0);
  if (head == queue.size(0)) {
    head = 0;
    ++wraps;
  }
}
