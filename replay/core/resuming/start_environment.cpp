#include "core/resuming/start_environment.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/digest.h"
#include "core/process/process.h"

namespace flor::core {
namespace {

constexpr std::array<std::string_view, 16> starts = {"SLURM", "SRUN_", "SBATCH_", "SALLOC_", "FLOR_", "PMI",
                                                     "OMPI_", "PRTE_", "HYDRA_",  "XDG_",    "SSH_",  "DBUS_",
                                                     "CUDA_", "ROCR_", "ZE_",     "MASTER_"};
constexpr std::array<std::string_view, 12> names = {
    "GPU_DEVICE_ORDINAL", "HOSTNAME", "HOST",       "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_", "TERM",
    "KRB5CCNAME",         "DISPLAY",  "ENVIRONMENT"};

constexpr std::array<std::string_view, 6> secrets = {"TOKEN", "SECRET", "PASS", "KEY", "CREDENTIAL", "AUTH"};

bool is_secret(std::string_view name) {
  std::string upper(name);
  for (char& letter : upper)
    letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  return std::any_of(secrets.begin(), secrets.end(),
                     [&](std::string_view word) { return upper.find(word) != std::string::npos; });
}

bool is_left_out(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  return is_secret(name) || std::find(names.begin(), names.end(), name) != names.end() ||
         std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return name.substr(0, start.size()) == start; });
}

}  // namespace

std::string digest_of_given(std::vector<std::string> variables) {
  variables.erase(std::remove_if(variables.begin(), variables.end(), is_left_out), variables.end());
  std::sort(variables.begin(), variables.end());
  std::string text;
  for (const auto& variable : variables) text.append(variable) += '\0';
  return digest_of(text);
}

std::string start_environment() {
  const auto variables = first_environment();
  return variables.empty() ? "" : digest_of_given(variables);
}

}  // namespace flor::core
