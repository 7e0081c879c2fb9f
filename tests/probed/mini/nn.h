// A stand-in for <torch/torch.h>: the names of LibTorch that training code uses, over vectors of doubles, in
// a header that compiles in a tenth of a second.
//
// Not a library of mathematics: gradients are made up. What counts is that every value is deterministic and
// depends on all weights, the data and the generator, and that tensors alias as LibTorch's do.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace torch {

struct Storage;

// A view of shared storage. Copies share, clone() does not.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(std::vector<double> values);

  bool defined() const { return storage_ != nullptr; }
  int64_t numel() const { return size_; }
  int64_t size(int64_t /*dimension*/) const { return size_; }
  Tensor operator[](int64_t index) const;          // a view of one element
  Tensor slice(int64_t begin, int64_t end) const;  // a view
  Tensor detach() const;                           // a view that needs no gradient
  Tensor clone() const;
  template <class T>
  T item() const {
    return static_cast<T>(first());
  }
  template <class T>
  T* data_ptr() const {
    return data();
  }

  // One element each.
  Tensor sum() const;
  Tensor mean() const;
  Tensor norm() const;
  Tensor max() const;

  // Each a new tensor; one with one element fits all.
  Tensor abs() const;
  Tensor tanh() const;
  Tensor operator-() const;

  // In place.
  Tensor& add_(const Tensor& other, double factor = 1);
  Tensor& add_(double value);
  Tensor& mul_(double value);
  Tensor& copy_(const Tensor& other);
  Tensor& fill_(double value);
  Tensor& zero_() { return fill_(0); }
  Tensor& operator+=(const Tensor& other) { return add_(other); }
  Tensor& operator+=(double value) { return add_(value); }
  Tensor& index_put_(std::initializer_list<int64_t> at, double value);

  // Fills the gradients of the weights that this was computed from.
  void backward() const;
  Tensor grad() const;  // zeros where there is none
  void zero_grad() const;
  Tensor requires_grad_() const;

  // The values of all of the storage, for the library.
  std::vector<double>& stored() const;

 private:
  friend Tensor combined(const Tensor& left, const Tensor& right, char operation);
  friend Tensor mapped(const Tensor& from, double (*function)(double));
  friend Tensor reduced(const Tensor& from, double value);
  double first() const;
  double* data() const;

  std::shared_ptr<Storage> storage_;
  int64_t begin_ = 0, size_ = 0;
};

Tensor operator+(const Tensor& left, const Tensor& right);
Tensor operator-(const Tensor& left, const Tensor& right);
Tensor operator*(const Tensor& left, const Tensor& right);
Tensor operator/(const Tensor& left, const Tensor& right);
Tensor operator+(const Tensor& left, double right);
Tensor operator-(const Tensor& left, double right);
Tensor operator*(const Tensor& left, double right);
Tensor operator/(const Tensor& left, double right);

Tensor zeros(int64_t size);
Tensor ones(int64_t size);
Tensor tensor(double value);
Tensor rand(int64_t size);  // from the recorded generator
Tensor linspace(double begin, double end, int64_t size);

// While it lives nothing is remembered for backward().
class NoGradGuard {
 public:
  NoGradGuard();
  ~NoGradGuard();
  NoGradGuard(const NoGradGuard&) = delete;
  NoGradGuard& operator=(const NoGradGuard&) = delete;

 private:
  const bool before_;
};

namespace nn {

class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  std::vector<Tensor> parameters() const;
  std::vector<Tensor> buffers() const;
  virtual void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const { return training_; }
  void zero_grad();
  // The train/eval flags of it and all modules in it, for the library.
  std::vector<bool*> flags();

 protected:
  Tensor register_parameter(const std::string& name, Tensor value);
  Tensor register_buffer(const std::string& name, Tensor value);
  template <class M>
  M& register_module(const std::string& /*name*/, M& module) {
    children_.push_back(&module);
    return module;
  }

 private:
  std::vector<Tensor> parameters_, buffers_;
  std::vector<Module*> children_;
  bool training_ = true;
};

class Linear : public Module {
 public:
  Linear(int64_t in, int64_t out);
  Tensor forward(const Tensor& input);

  Tensor weight, bias;
};

// Its buffer, the running mean, changes in forward() while training.
class BatchNorm : public Module {
 public:
  explicit BatchNorm(int64_t size);
  Tensor forward(const Tensor& input);

  Tensor running_mean;
};

class Dropout : public Module {
 public:
  explicit Dropout(double rate) : rate_(rate) {}
  Tensor forward(const Tensor& input);

 private:
  const double rate_;
};

namespace functional {

Tensor mse_loss(const Tensor& output, const Tensor& target);

}  // namespace functional
}  // namespace nn

namespace optim {

// With momentum.
class SGD {
 public:
  SGD(std::vector<Tensor> parameters, double lr, double momentum = 0.9);
  void step();
  void zero_grad();
  double lr() const { return lr_; }
  void set_lr(double lr) { lr_ = lr; }

  // For the library.
  std::vector<Tensor>& momenta() { return momenta_; }
  double& rate() { return lr_; }

 private:
  std::vector<Tensor> parameters_, momenta_;
  double lr_;
  const double momentum_;
};

class StepLR {
 public:
  StepLR(SGD& optimizer, int64_t step_size, double gamma)
      : optimizer_(&optimizer), step_size_(step_size), gamma_(gamma) {}
  void step();

  // For the library.
  int64_t& count() { return count_; }

 private:
  SGD* optimizer_;
  const int64_t step_size_;
  const double gamma_;
  int64_t count_ = 0;
};

}  // namespace optim
}  // namespace torch
