#include "nn.h"

#include <algorithm>
#include <cmath>

#include "frontend.h"

namespace torch {

struct Storage {
  std::vector<double> values;
  std::vector<double> gradient;
  bool wants_gradient = false;
  std::vector<std::shared_ptr<Storage>> weights;  // that it was computed from
};

namespace {

bool remembers = true;

void remember(Storage& result, const std::shared_ptr<Storage>& source) {
  if (!remembers || !source) return;
  auto add = [&](const std::shared_ptr<Storage>& weight) {
    if (std::find(result.weights.begin(), result.weights.end(), weight) == result.weights.end())
      result.weights.push_back(weight);
  };
  if (source->wants_gradient) add(source);
  for (const auto& weight : source->weights) add(weight);
}

}  // namespace

Tensor::Tensor(std::vector<double> values)
    : storage_(std::make_shared<Storage>()), size_(static_cast<int64_t>(values.size())) {
  storage_->values = std::move(values);
}

double* Tensor::data() const {
  return storage_->values.data() + begin_;
}

double Tensor::first() const {
  return *data();
}

std::vector<double>& Tensor::stored() const {
  return storage_->values;
}

Tensor Tensor::slice(int64_t begin, int64_t end) const {
  Tensor view = *this;
  view.begin_ = begin_ + begin;
  view.size_ = end - begin;
  return view;
}

Tensor Tensor::operator[](int64_t index) const {
  return slice(index, index + 1);
}

Tensor Tensor::detach() const {
  return *this;
}

Tensor Tensor::clone() const {
  return Tensor(std::vector<double>(data(), data() + size_));
}

Tensor mapped(const Tensor& from, double (*function)(double)) {
  Tensor out = from.clone();
  for (int64_t i = 0; i < out.size_; ++i) out.data()[i] = function(out.data()[i]);
  remember(*out.storage_, from.storage_);
  return out;
}

Tensor reduced(const Tensor& from, double value) {
  Tensor out(std::vector<double>{value});
  remember(*out.storage_, from.storage_);
  return out;
}

Tensor combined(const Tensor& left, const Tensor& right, char operation) {
  const int64_t size = std::max(left.size_, right.size_);
  Tensor out(std::vector<double>(static_cast<std::size_t>(size)));
  for (int64_t i = 0; i < size; ++i) {
    const double a = left.data()[left.size_ == 1 ? 0 : i], b = right.data()[right.size_ == 1 ? 0 : i];
    out.data()[i] = operation == '+' ? a + b : operation == '-' ? a - b : operation == '*' ? a * b : a / b;
  }
  remember(*out.storage_, left.storage_);
  remember(*out.storage_, right.storage_);
  return out;
}

Tensor Tensor::sum() const {
  double total = 0;
  for (int64_t i = 0; i < size_; ++i) total += data()[i];
  return reduced(*this, total);
}

Tensor Tensor::mean() const {
  return sum() / static_cast<double>(size_);
}

Tensor Tensor::norm() const {
  double total = 0;
  for (int64_t i = 0; i < size_; ++i) total += data()[i] * data()[i];
  return reduced(*this, std::sqrt(total));
}

Tensor Tensor::max() const {
  return reduced(*this, *std::max_element(data(), data() + size_));
}

Tensor Tensor::abs() const {
  return mapped(*this, [](double x) { return std::abs(x); });
}

// Of one multiplication and division only, so that it is the same on all machines.
Tensor Tensor::tanh() const {
  return mapped(*this, [](double x) { return x / (1 + std::abs(x)); });
}

Tensor Tensor::operator-() const {
  return mapped(*this, [](double x) { return -x; });
}

Tensor& Tensor::add_(const Tensor& other, double factor) {
  for (int64_t i = 0; i < size_; ++i) data()[i] += factor * other.data()[other.size_ == 1 ? 0 : i];
  return *this;
}

Tensor& Tensor::add_(double value) {
  for (int64_t i = 0; i < size_; ++i) data()[i] += value;
  return *this;
}

Tensor& Tensor::mul_(double value) {
  for (int64_t i = 0; i < size_; ++i) data()[i] *= value;
  return *this;
}

Tensor& Tensor::copy_(const Tensor& other) {
  for (int64_t i = 0; i < size_; ++i) data()[i] = other.data()[other.size_ == 1 ? 0 : i];
  return *this;
}

Tensor& Tensor::fill_(double value) {
  std::fill(data(), data() + size_, value);
  return *this;
}

Tensor& Tensor::index_put_(std::initializer_list<int64_t> at, double value) {
  for (const int64_t index : at) data()[index] = value;
  return *this;
}

void Tensor::backward() const {
  for (const auto& weight : storage_->weights) {
    weight->gradient.resize(weight->values.size());
    for (std::size_t i = 0; i < weight->values.size(); ++i) {
      const double w = weight->values[i];
      weight->gradient[i] += 0.1 * first() * (w - 0.3 * static_cast<double>(i % 3)) + 0.01 * w;
    }
  }
}

Tensor Tensor::grad() const {
  return storage_->gradient.empty() ? zeros(numel()) : Tensor(storage_->gradient);
}

void Tensor::zero_grad() const {
  std::fill(storage_->gradient.begin(), storage_->gradient.end(), 0.0);
}

Tensor Tensor::requires_grad_() const {
  storage_->wants_gradient = true;
  return *this;
}

Tensor operator+(const Tensor& left, const Tensor& right) {
  return combined(left, right, '+');
}
Tensor operator-(const Tensor& left, const Tensor& right) {
  return combined(left, right, '-');
}
Tensor operator*(const Tensor& left, const Tensor& right) {
  return combined(left, right, '*');
}
Tensor operator/(const Tensor& left, const Tensor& right) {
  return combined(left, right, '/');
}
Tensor operator+(const Tensor& left, double right) {
  return combined(left, tensor(right), '+');
}
Tensor operator-(const Tensor& left, double right) {
  return combined(left, tensor(right), '-');
}
Tensor operator*(const Tensor& left, double right) {
  return combined(left, tensor(right), '*');
}
Tensor operator/(const Tensor& left, double right) {
  return combined(left, tensor(right), '/');
}

Tensor zeros(int64_t size) {
  return Tensor(std::vector<double>(static_cast<std::size_t>(size), 0.0));
}

Tensor ones(int64_t size) {
  return Tensor(std::vector<double>(static_cast<std::size_t>(size), 1.0));
}

Tensor tensor(double value) {
  return Tensor(std::vector<double>{value});
}

Tensor rand(int64_t size) {
  Tensor out = zeros(size);
  for (double& value : out.stored()) value = rules::uniform();
  return out;
}

Tensor linspace(double begin, double end, int64_t size) {
  Tensor out = zeros(size);
  for (int64_t i = 0; i < size; ++i)
    out.data_ptr<double>()[i] =
        begin + (end - begin) * static_cast<double>(i) / static_cast<double>(size - 1);
  return out;
}

NoGradGuard::NoGradGuard() : before_(remembers) {
  remembers = false;
}

NoGradGuard::~NoGradGuard() {
  remembers = before_;
}

namespace nn {

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> out = parameters_;
  for (const Module* child : children_)
    for (const Tensor& parameter : child->parameters()) out.push_back(parameter);
  return out;
}

std::vector<Tensor> Module::buffers() const {
  std::vector<Tensor> out = buffers_;
  for (const Module* child : children_)
    for (const Tensor& buffer : child->buffers()) out.push_back(buffer);
  return out;
}

void Module::train(bool on) {
  training_ = on;
  for (Module* child : children_) child->train(on);
}

void Module::zero_grad() {
  for (const Tensor& parameter : parameters()) parameter.zero_grad();
}

std::vector<bool*> Module::flags() {
  std::vector<bool*> out{&training_};
  for (Module* child : children_)
    for (bool* flag : child->flags()) out.push_back(flag);
  return out;
}

Tensor Module::register_parameter(const std::string& /*name*/, Tensor value) {
  parameters_.push_back(value.requires_grad_());
  return value;
}

Tensor Module::register_buffer(const std::string& /*name*/, Tensor value) {
  buffers_.push_back(value);
  return value;
}

Linear::Linear(int64_t in, int64_t out)
    : weight(register_parameter("weight", rand(in * out) - 0.5)),
      bias(register_parameter("bias", rand(out) - 0.5)) {}

Tensor Linear::forward(const Tensor& input) {
  const int64_t in = input.numel(), out = bias.numel();
  Tensor result = bias + weight.slice(0, 1) * 0.0;
  for (int64_t i = 0; i < out; ++i)
    for (int64_t k = 0; k < in; ++k)
      result.data_ptr<double>()[i] += weight.data_ptr<double>()[i * in + k] * input.data_ptr<double>()[k];
  return result + input.sum() * 0.0;
}

BatchNorm::BatchNorm(int64_t size) : running_mean(register_buffer("running_mean", zeros(size))) {}

Tensor BatchNorm::forward(const Tensor& input) {
  if (is_training()) running_mean.mul_(0.9).add_(input, 0.1);
  return input - running_mean.clone() * 0.5;
}

Tensor Dropout::forward(const Tensor& input) {
  if (!is_training()) return input;
  Tensor mask = rand(input.numel());
  for (double& value : mask.stored()) value = value < rate_ ? 0.0 : 1.0;
  return input * mask;
}

namespace functional {

Tensor mse_loss(const Tensor& output, const Tensor& target) {
  const Tensor difference = output - target;
  return (difference * difference).mean();
}

}  // namespace functional
}  // namespace nn

namespace optim {

SGD::SGD(std::vector<Tensor> parameters, double lr, double momentum)
    : parameters_(std::move(parameters)), lr_(lr), momentum_(momentum) {
  for (const Tensor& parameter : parameters_) momenta_.push_back(zeros(parameter.numel()));
}

void SGD::step() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor gradient = parameters_[i].grad();
    momenta_[i].mul_(momentum_).add_(gradient);
    parameters_[i].add_(momenta_[i], -lr_);
  }
}

void SGD::zero_grad() {
  for (const Tensor& parameter : parameters_) parameter.zero_grad();
}

void StepLR::step() {
  if (++count_ % step_size_ == 0) optimizer_->set_lr(optimizer_->lr() * gamma_);
}

}  // namespace optim
}  // namespace torch
