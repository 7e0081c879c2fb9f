// Factorization: a vector and a bias for each shopper and each item.
#pragma once

#include <torch/torch.h>

struct TablesImpl : torch::nn::Module {
  TablesImpl(int64_t shoppers, int64_t items, int64_t width)
      : shopper(register_module("shopper", torch::nn::Embedding(shoppers, width))),
        item(register_module("item", torch::nn::Embedding(items, width))),
        item_bias(register_module("item_bias", torch::nn::Embedding(items, 1))) {
    torch::nn::init::normal_(shopper->weight, 0.0, 0.1);
    torch::nn::init::normal_(item->weight, 0.0, 0.1);
    torch::nn::init::zeros_(item_bias->weight);
  }
  torch::Tensor forward(const torch::Tensor& shoppers, const torch::Tensor& items) {
    return (shopper(shoppers) * item(items)).sum(1) + item_bias(items).squeeze(1);
  }

  torch::nn::Embedding shopper, item, item_bias;
};
TORCH_MODULE(Tables);

struct Ratings {
  torch::Tensor shoppers, items, stars;
  int64_t size() const { return stars.size(0); }
};
