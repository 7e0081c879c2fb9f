// Optimizers as state: options per group (learning rates!) and state per parameter, addressed as (group,
// index, field), never by address. Removes state that the record does not have, so that a restore to before
// the first step leaves none.
#include <array>
#include <deque>
#include <sstream>
#include <tuple>

#include "core/base/error.h"
#include "flor/archive.h"

namespace flor::detail {
namespace {

namespace optim = torch::optim;

void real(Archive& archive, const std::string& name, double& value) {
  archive.number(name, "F64", &value, sizeof value);
}
void whole(Archive& archive, const std::string& name, int64_t& value) {
  archive.number(name, "I64", &value, sizeof value);
}
void truth(Archive& archive, const std::string& name, bool& value) {
  archive.number(name, "BOOL", &value, sizeof value);
}

// An optional value: a flag, then the value where there is one.
template <class Optional, class Walk>
void maybe(Archive& archive, const std::string& name, Optional& value, Walk walk_value) {
  std::vector<uint8_t> has{static_cast<uint8_t>(value ? 1 : 0)};
  archive.flags(name + ".@has", has);
  if (has[0] == 0) {
    if (archive.writing()) value = Optional();
    return;
  }
  typename Optional::value_type held = value ? *value : typename Optional::value_type();
  walk_value(held);
  if (archive.writing()) value = held;
}

template <class Sequence>
void tensors(Archive& archive, const std::string& name, Sequence& values, const at::Tensor& like) {
  const auto size =
      static_cast<std::size_t>(archive.count(name + ".size", static_cast<int64_t>(values.size())));
  if (archive.writing()) values.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    at::Tensor absent;
    archive.tensor(name + "." + std::to_string(i), i < values.size() ? values[i] : absent, like);
  }
}

// --- options ---

void walk_options(Archive& a, const std::string& n, optim::SGDOptions& o) {
  real(a, n + ".lr", o.lr());
  real(a, n + ".momentum", o.momentum());
  real(a, n + ".dampening", o.dampening());
  real(a, n + ".weight_decay", o.weight_decay());
  truth(a, n + ".nesterov", o.nesterov());
}

// Adam and AdamW have the same options, in unrelated classes.
template <class AdamOptions>
void walk_adam_options(Archive& a, const std::string& n, AdamOptions& o) {
  real(a, n + ".lr", o.lr());
  real(a, n + ".beta1", std::get<0>(o.betas()));
  real(a, n + ".beta2", std::get<1>(o.betas()));
  real(a, n + ".eps", o.eps());
  real(a, n + ".weight_decay", o.weight_decay());
  truth(a, n + ".amsgrad", o.amsgrad());
}
void walk_options(Archive& a, const std::string& n, optim::AdamOptions& o) {
  walk_adam_options(a, n, o);
}
void walk_options(Archive& a, const std::string& n, optim::AdamWOptions& o) {
  walk_adam_options(a, n, o);
}

void walk_options(Archive& a, const std::string& n, optim::AdagradOptions& o) {
  real(a, n + ".lr", o.lr());
  real(a, n + ".lr_decay", o.lr_decay());
  real(a, n + ".weight_decay", o.weight_decay());
  real(a, n + ".initial_accumulator_value", o.initial_accumulator_value());
  real(a, n + ".eps", o.eps());
}

void walk_options(Archive& a, const std::string& n, optim::RMSpropOptions& o) {
  real(a, n + ".lr", o.lr());
  real(a, n + ".alpha", o.alpha());
  real(a, n + ".eps", o.eps());
  real(a, n + ".weight_decay", o.weight_decay());
  real(a, n + ".momentum", o.momentum());
  truth(a, n + ".centered", o.centered());
}

void walk_options(Archive& a, const std::string& n, optim::LBFGSOptions& o) {
  real(a, n + ".lr", o.lr());
  whole(a, n + ".max_iter", o.max_iter());
  maybe(a, n + ".max_eval", o.max_eval(), [&](int64_t& value) { whole(a, n + ".max_eval", value); });
  real(a, n + ".tolerance_grad", o.tolerance_grad());
  real(a, n + ".tolerance_change", o.tolerance_change());
  whole(a, n + ".history_size", o.history_size());
  maybe(a, n + ".line_search_fn", o.line_search_fn(),
        [&](std::string& value) { a.text(n + ".line_search_fn", value); });
}

// --- state of one parameter ---

void walk_state(Archive& a, const std::string& n, optim::SGDParamState& s, const at::Tensor& p) {
  a.tensor(n + ".momentum_buffer", s.momentum_buffer(), p);
}

template <class AdamState>
void walk_adam_state(Archive& a, const std::string& n, AdamState& s, const at::Tensor& p) {
  whole(a, n + ".step", s.step());
  a.tensor(n + ".exp_avg", s.exp_avg(), p);
  a.tensor(n + ".exp_avg_sq", s.exp_avg_sq(), p);
  a.tensor(n + ".max_exp_avg_sq", s.max_exp_avg_sq(), p);
}
void walk_state(Archive& a, const std::string& n, optim::AdamParamState& s, const at::Tensor& p) {
  walk_adam_state(a, n, s, p);
}
void walk_state(Archive& a, const std::string& n, optim::AdamWParamState& s, const at::Tensor& p) {
  walk_adam_state(a, n, s, p);
}

void walk_state(Archive& a, const std::string& n, optim::AdagradParamState& s, const at::Tensor& p) {
  whole(a, n + ".step", s.step());
  a.tensor(n + ".sum", s.sum(), p);
}

void walk_state(Archive& a, const std::string& n, optim::RMSpropParamState& s, const at::Tensor& p) {
  whole(a, n + ".step", s.step());
  a.tensor(n + ".square_avg", s.square_avg(), p);
  a.tensor(n + ".momentum_buffer", s.momentum_buffer(), p);
  a.tensor(n + ".grad_avg", s.grad_avg(), p);
}

void walk_state(Archive& a, const std::string& n, optim::LBFGSParamState& s, const at::Tensor& p) {
  whole(a, n + ".func_evals", s.func_evals());
  whole(a, n + ".n_iter", s.n_iter());
  real(a, n + ".t", s.t());
  real(a, n + ".prev_loss", s.prev_loss());
  a.tensor(n + ".d", s.d(), p);
  a.tensor(n + ".H_diag", s.H_diag(), p);
  a.tensor(n + ".prev_flat_grad", s.prev_flat_grad(), p);
  tensors(a, n + ".old_dirs", s.old_dirs(), p);
  tensors(a, n + ".old_stps", s.old_stps(), p);
  tensors(a, n + ".ro", s.ro(), p);
  maybe(a, n + ".al", s.al(), [&](std::vector<at::Tensor>& value) { tensors(a, n + ".al", value, p); });
}

// --- the optimizer ---

// LibTorch 1 keys its state by the printed address of the parameter, LibTorch 2 by the address.
template <class Key>
Key key_of(const at::Tensor& parameter) {
  if constexpr (std::is_same_v<Key, std::string>) {
    std::ostringstream address;
    address << static_cast<const void*>(parameter.unsafeGetTensorImpl());
    return address.str();
  } else {
    return parameter.unsafeGetTensorImpl();
  }
}

// --- bytes that the first step will make, of one parameter ---

template <class AdamOptions>
std::size_t moments(const AdamOptions& options) {
  return options.amsgrad() ? 3 : 2;
}
std::size_t tensors_of(const optim::AdamOptions& options) {
  return moments(options);
}
std::size_t tensors_of(const optim::AdamWOptions& options) {
  return moments(options);
}
std::size_t tensors_of(const optim::SGDOptions& options) {
  return options.momentum() != 0 ? 1 : 0;
}
std::size_t tensors_of(const optim::RMSpropOptions& options) {
  return std::size_t{1} + (options.momentum() > 0 ? 1 : 0) + (options.centered() ? 1 : 0);
}
std::size_t tensors_of(const optim::AdagradOptions&) {
  return 1;
}
std::size_t tensors_of(const optim::LBFGSOptions&) {
  return 0;  // it depends on how the search goes
}

template <class Options, class State>
struct Kind {
  static bool matches(optim::Optimizer& optimizer) {
    return dynamic_cast<Options*>(&optimizer.defaults()) != nullptr;
  }

  static void walk(Archive& archive, const std::string& name, optim::Optimizer& optimizer) {
    auto& groups = optimizer.param_groups();
    if (static_cast<std::size_t>(archive.count(name + ".groups", static_cast<int64_t>(groups.size()))) !=
        groups.size()) {
      throw core::Error(name + " has another number of parameter groups than its record");
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::string group = name + "." + std::to_string(g);
      walk_options(archive, group, static_cast<Options&>(groups[g].options()));
      auto& parameters = groups[g].params();
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        walk_parameter(archive, group + "." + std::to_string(i), optimizer, parameters[i],
                       tensors_of(static_cast<Options&>(groups[g].options())));
      }
    }
  }

  static void walk_parameter(Archive& archive, const std::string& name, optim::Optimizer& optimizer,
                             const at::Tensor& parameter, std::size_t tensors) {
    auto& states = optimizer.state();
    using States = std::decay_t<decltype(states)>;
    const auto key = key_of<typename States::key_type>(parameter);
    auto found = states.find(key);
    std::vector<uint8_t> has{static_cast<uint8_t>(found != states.end() ? 1 : 0)};
    archive.flags(name + ".@has", has);
    if (has[0] == 0) {
      if (archive.writing()) states.erase(key);
      if (parameter.requires_grad()) archive.to_come(tensors * parameter.nbytes());
      return;
    }
    if (found != states.end()) {
      walk_state(archive, name, static_cast<State&>(*found->second), parameter);
      return;
    }
    auto fresh = std::make_unique<State>();
    walk_state(archive, name, *fresh, parameter);
    if (archive.writing()) states[key] = std::move(fresh);
  }
};

template <class... Kinds>
void walk_one_of(Archive& archive, const std::string& name, optim::Optimizer& optimizer) {
  const bool known = ((Kinds::matches(optimizer) && (Kinds::walk(archive, name, optimizer), true)) || ...);
  if (!known) throw core::Error("optimizer " + name + " is of a type that cannot be checkpointed");
}

}  // namespace

void walk_optimizer(Archive& archive, const std::string& name, optim::Optimizer& optimizer) {
  walk_one_of<
      Kind<optim::AdamOptions, optim::AdamParamState>, Kind<optim::AdamWOptions, optim::AdamWParamState>,
      Kind<optim::SGDOptions, optim::SGDParamState>, Kind<optim::RMSpropOptions, optim::RMSpropParamState>,
      Kind<optim::AdagradOptions, optim::AdagradParamState>,
      Kind<optim::LBFGSOptions, optim::LBFGSParamState>>(archive, name, optimizer);
}

}  // namespace flor::detail
