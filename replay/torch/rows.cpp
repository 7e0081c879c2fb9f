// flor::log and flor::Logger: from values to rows.
#include "core/base/digest.h"
#include "core/base/json.h"
#include "core/base/messages.h"
#include "core/log/row_file.h"
#include "flor/flor.h"
#include "logging/observe.h"
#include "torch/archives.h"
#include "torch/frontend.h"

namespace flor {
namespace detail {
namespace {

// Larger tensors are logged by digest: a log is not the place for a model.
constexpr int64_t most_elements = 1024;

core::Json nested(const at::Tensor& tensor) {
  if (tensor.dim() == 0) {
    if (tensor.scalar_type() == at::kBool) return tensor.item<bool>();
    if (tensor.is_floating_point()) return tensor.item<double>();
    return tensor.item<int64_t>();
  }
  core::Json out = core::Json::array();
  for (int64_t i = 0; i < tensor.size(0); ++i) out.push_back(nested(tensor[i]));
  return out;
}

core::Json tensor_value(const at::Tensor& value) {
  if (!value.defined()) return nullptr;
  at::Tensor tensor = value.detach().to(at::kCPU).contiguous();
  if (tensor.is_complex()) tensor = at::view_as_real(tensor.resolve_conj()).contiguous();
  if (tensor.numel() <= most_elements) return nested(tensor);
  return {{"dtype", dtype_name(tensor.scalar_type())},
          {"shape", tensor.sizes().vec()},
          {"xxh3", core::digest_of(tensor.data_ptr(), tensor.nbytes())}};
}

// A row whose value arrives later. A tensor that cannot be read (sparse, for example) is warned about once,
// and the row says so, too.
core::Row observed(const std::string& name, const at::Tensor& value, Observation how, bool is_volatile,
                   const logging::RowDestination& destination, logging::Background::After after) {
  if (!value.defined()) return {name, "null", is_volatile};
  const at::NoGradGuard no_grad;
  logging::Observation what;
  what.buckets = how.buckets;
  if (how.kind == Observation::Kind::whole) what.kind = logging::Observation::Kind::whole;
  if (how.kind == Observation::Kind::image) what.kind = logging::Observation::Kind::image;
  try {
    const core::Buffer live = buffer_of(name, value);
    return {name, "", is_volatile,
            logging::observe(logging::process_background(), live, what, destination, std::move(after))};
  } catch (const std::exception& problem) {
    core::warn_once("'" + name + "' is not logged: " + problem.what());
    return {name, core::json_text({{"error", problem.what()}}), is_volatile};
  }
}

}  // namespace

std::string text_of_integer(int64_t value) {
  return std::to_string(value);
}
std::string text_of_unsigned(uint64_t value) {
  return std::to_string(value);
}
std::string text_of_real(double value) {
  return core::number_text(value);
}
std::string text_of_text(const std::string& value) {
  return core::json_text(value);
}
std::string text_of_tensor(const at::Tensor& value) {
  const at::NoGradGuard no_grad;
  return core::json_text(tensor_value(value));
}

void log_text(const std::string& name, std::string text, bool is_volatile) {
  runtime().log({name, std::move(text), is_volatile});
}

void log_observed(const std::string& name, const at::Tensor& value, Observation how, bool is_volatile) {
  auto destination = runtime().row_destination();
  if (!destination) return;
  runtime().log(observed(name, value, how, is_volatile, {destination->files, name, destination->stem},
                         [] { runtime().value_came(); }));
}

}  // namespace detail

struct Logger::Impl {
  explicit Impl(const std::string& where) : file(where) {}

  static core::Scope scope(const Columns& columns) {
    core::Scope scope;
    for (const auto& [name, value] : columns) {
      scope.enter_loop(core::clean_name(name, true));
      scope.set_value(value);
    }
    return scope;
  }

  core::RowFile file;
};

Logger::Logger(const std::string& where) : impl_(std::make_unique<Impl>(where)) {}
Logger::~Logger() = default;

bool Logger::sync() {
  return impl_->file.sync();
}

void Logger::text(const Columns& columns, const std::string& name, std::string text) {
  impl_->file.log({name, std::move(text)}, Impl::scope(columns));
}

void Logger::observed(const Columns& columns, const std::string& name, const at::Tensor& value,
                      Observation how) {
  if (!impl_->file.writes()) return;
  const core::Scope scope = Impl::scope(columns);
  const logging::RowDestination destination{impl_->file.files(), name,
                                            core::checkpoint_stem(scope.path(), 0)};
  impl_->file.log(detail::observed(name, value, how, false, destination, {}), scope);
}

}  // namespace flor
