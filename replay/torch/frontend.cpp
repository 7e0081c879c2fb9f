#include "torch/frontend.h"

#include <ATen/Version.h>
#include <dlfcn.h>
#include <torch/torch.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "core/config/preset.h"
#include "core/config/settings.h"
#include "torch/device.h"

namespace flor::detail {
namespace {

using Map = std::map<std::string, std::string>;

// OpenBLAS, if loaded: its threads and the kernels it chose decide the bits of a product.
template <class Function>
Function find(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

std::string openblas(const char* function) {
  auto call = find<char* (*)()>(function);
  return call != nullptr ? call() : "";
}

std::string first_words(const std::string& text, int count) {
  std::string out;
  for (char c : text) {
    if (c == ' ' && --count == 0) break;
    out += c;
  }
  return out;
}

// Returns the vector level that LibTorch chose, from its own description.
std::string cpu_capability() {
  const std::string config = at::show_config();
  const std::string label = "CPU capability usage: ";
  const auto at = config.find(label);
  if (at == std::string::npos) return "";
  const auto begin = at + label.size();
  return config.substr(begin, config.find('\n', begin) - begin);
}

std::string determinism() {
  const auto& context = at::globalContext();
  std::string flags;
  flags += context.deterministicAlgorithms() ? '1' : '0';
  flags += context.deterministicCuDNN() ? '1' : '0';
  flags += context.benchmarkCuDNN() ? '1' : '0';
  return flags;
}

std::string blas_name() {
  const std::string config = openblas("openblas_get_config");
  return config.empty() ? "" : first_words(config, 2) + " " + openblas("openblas_get_corename");
}

class TorchFrontend : public core::Frontend {
 public:
  // Creates its generator before the exit handler, so that it still exists when that runs.
  TorchFrontend() { at::globalContext().defaultGenerator(at::kCPU); }

  Map generators() override {
    Map out;
    for_each_generator([&](const std::string& name, at::Generator generator) {
      const std::lock_guard<std::mutex> lock(generator.mutex());
      const at::Tensor state = generator.get_state().cpu().contiguous();
      out[name] = std::string(static_cast<const char*>(state.data_ptr()), state.nbytes());
    });
    return out;
  }

  void set_generators(const Map& states) override {
    for_each_generator([&](const std::string& name, at::Generator generator) {
      auto found = states.find(name);
      if (found == states.end()) return;
      const auto size = static_cast<int64_t>(found->second.size());
      at::Tensor state = at::empty({size}, at::kByte);
      std::copy(found->second.begin(), found->second.end(), static_cast<char*>(state.data_ptr()));
      const std::lock_guard<std::mutex> lock(generator.mutex());
      generator.set_state(state);
    });
  }

  Map environment() override {
    auto blas_threads = find<int (*)()>("openblas_get_num_threads");
    return {{"threads", std::to_string(at::get_num_threads())},
            {"blas_threads", blas_threads != nullptr ? std::to_string(blas_threads()) : ""},
            {"blas", blas_name()},
            {"cpu", cpu_capability()},
            {"gpu", gpu_names()},
            {"libtorch", TORCH_VERSION},
            {"determinism", determinism()}};
  }

  Map preset() override {
    Map out;
    for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "CUBLAS_WORKSPACE_CONFIG"}) {
      if (auto value = core::environment_variable(name)) out[name] = *value;
    }
    const Map environment = this->environment();
    std::string capability = environment.at("cpu");
    std::transform(capability.begin(), capability.end(), capability.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (!capability.empty()) {
      out["ATEN_CPU_CAPABILITY"] = capability.rfind("no ", 0) == 0 ? "default" : capability;
    }
    if (!environment.at("blas_threads").empty()) out["OPENBLAS_NUM_THREADS"] = environment.at("blas_threads");
    const std::string core = openblas("openblas_get_corename");
    if (!core.empty()) out["OPENBLAS_CORETYPE"] = core;
    return core::known_preset(out);
  }

  void apply(const Map& environment) override {
    auto number = [&](const char* key) {
      auto found = environment.find(key);
      return found == environment.end() ? 0 : std::atoi(found->second.c_str());
    };
    const int threads = number("threads");
    if (threads > 0 && threads != at::get_num_threads()) at::set_num_threads(threads);
    auto set_blas_threads = find<void (*)(int)>("openblas_set_num_threads");
    if (set_blas_threads != nullptr && number("blas_threads") > 0) set_blas_threads(number("blas_threads"));
    auto flags = environment.find("determinism");
    if (flags != environment.end() && flags->second.size() == 3) {
      auto& context = at::globalContext();
      context.setDeterministicAlgorithms(flags->second[0] == '1', false);
      context.setDeterministicCuDNN(flags->second[1] == '1');
      context.setBenchmarkCuDNN(flags->second[2] == '1');
    }
  }

  void synchronize() override {
    if (torch::cuda::is_available()) torch::cuda::synchronize();
  }

 private:
  template <class Call>
  static void for_each_generator(Call call) {
    call("cpu", at::globalContext().defaultGenerator(at::kCPU));
    if (!torch::cuda::is_available()) return;
    const auto count = static_cast<int>(torch::cuda::device_count());
    for (int i = 0; i < count; ++i) {
      call("cuda" + std::to_string(i),
           at::globalContext().defaultGenerator(at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(i))));
    }
  }
};

}  // namespace

std::unique_ptr<core::Frontend> make_frontend() {
  return std::make_unique<TorchFrontend>();
}

}  // namespace flor::detail
