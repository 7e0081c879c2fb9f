#include "torch/archives.h"

#include <cstring>

#include "core/base/error.h"
#include "torch/device.h"

namespace flor::detail {
namespace {

constexpr const char* undefined_suffix = "@undefined";
constexpr const char* kind_suffix = "@kind";
constexpr const char* complex_kind = "complex";
constexpr const char* trained_kind = " trained";  // behind the kind: gradients are computed for it

// What dtype and shape do not say about a plain tensor: "" for real numbers on the CPU, else "complex",
// "cuda:0" or both.
std::string kind_of(const at::Tensor& tensor) {
  std::string kind = tensor.device().is_cpu() ? "" : tensor.device().str();
  if (tensor.is_complex()) kind += (kind.empty() ? "" : " ") + std::string(complex_kind);
  return kind;
}

// Returns whether it is a leaf that gradients are computed for.
bool is_trained(const at::Tensor& tensor) {
  return tensor.is_leaf() && tensor.requires_grad();
}

at::Tensor of_kind(at::Tensor tensor, std::string kind) {
  const auto complex = kind.find(complex_kind);
  if (complex != std::string::npos) {
    tensor = at::view_as_complex(tensor);
    kind.erase(complex == 0 ? 0 : complex - 1);
  }
  return kind.empty() ? tensor : tensor.to(at::Device(kind));
}

// Complex numbers are stored as pairs of reals: safetensors has no type of their own for them everywhere. Of
// a view that is negated or conjugated lazily, memory holds other values than the tensor has.
at::Tensor storable(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.resolve_conj().resolve_neg();
  return plain.is_complex() ? at::view_as_real(plain) : plain;
}

std::vector<int64_t> shape_of(const at::Tensor& tensor) {
  return tensor.sizes().vec();
}

// The identity of the tensor's memory, and its version counter, which grows with every write by an operator.
// A trained tensor has no hint: optimizers of LibTorch write some of them through `.data`, which does not
// change the counter.
std::optional<core::ChangeHint> hint_of(const at::Tensor& tensor) {
  if (tensor.requires_grad() || tensor.is_inference() || !tensor.has_storage()) return std::nullopt;
  using Object = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
  using Memory = decltype(tensor.storage().getWeakStorageImpl());
  core::ChangeHint hint;
  hint.memory = {reinterpret_cast<std::uint64_t>(tensor.unsafeGetTensorImpl()),
                 reinterpret_cast<std::uint64_t>(tensor.storage().unsafeGetStorageImpl()),
                 reinterpret_cast<std::uint64_t>(tensor.data_ptr()), tensor.nbytes()};
  hint.version = tensor._version();
  // Weak references reserve the addresses of both objects without keeping the memory.
  hint.anchor = std::make_shared<std::pair<Object, Memory>>(Object(tensor.getIntrusivePtr()),
                                                            tensor.storage().getWeakStorageImpl());
  return hint;
}

at::Tensor view_of(const core::LoadedTensor& loaded) {
  // The mapped file is read only, and so is every use of this view.
  return at::from_blob(const_cast<unsigned char*>(loaded.data), loaded.shape,
                       at::TensorOptions().dtype(scalar_type(loaded.dtype)));
}

bool same_layout(const at::Tensor& live, const core::LoadedTensor& loaded) {
  const at::Tensor tensor = storable(live);
  return dtype_name(tensor.scalar_type()) == loaded.dtype && shape_of(tensor) == loaded.shape;
}

void write_in_place(at::Tensor& live, const core::LoadedTensor& loaded) {
  const at::NoGradGuard no_grad;
  const at::Tensor recorded = view_of(loaded);
  live.detach().copy_(live.is_complex() ? at::view_as_complex(recorded) : recorded);
}

}  // namespace

const char* dtype_name(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return "F64";
    case at::kFloat:
      return "F32";
    case at::kHalf:
      return "F16";
    case at::kBFloat16:
      return "BF16";
    case at::kLong:
      return "I64";
    case at::kInt:
      return "I32";
    case at::kShort:
      return "I16";
    case at::kChar:
      return "I8";
    case at::kByte:
      return "U8";
    case at::kBool:
      return "BOOL";
    default:
      throw core::Error(std::string("tensors of type ") + c10::toString(type) + " cannot be checkpointed");
  }
}

at::ScalarType scalar_type(const std::string& dtype) {
  for (auto type : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kShort,
                    at::kChar, at::kByte, at::kBool}) {
    if (dtype == dtype_name(type)) return type;
  }
  throw core::Error("unknown tensor type " + dtype);
}

// --- saving ---

core::Buffer buffer_of(const std::string& name, const at::Tensor& live) {
  if (live.layout() != at::kStrided || live.is_quantized()) {
    throw core::Error("tensor " + name + " is sparse or quantized, which cannot be checkpointed");
  }
  const at::Tensor tensor = storable(live.detach());
  core::Buffer buffer;
  buffer.name = name;
  buffer.dtype = dtype_name(tensor.scalar_type());
  buffer.shape = shape_of(tensor);
  buffer.bytes = tensor.nbytes();
  buffer.device = !tensor.device().is_cpu();
  buffer.hint = hint_of(live);
  if (tensor.device().is_cpu() && tensor.is_contiguous() && !live.is_complex()) {
    buffer.data = tensor.data_ptr();
    buffer.keep = std::make_shared<at::Tensor>(tensor);  // a hook's may be a local of its
  } else if (tensor.is_cuda()) {
    buffer.copy = [tensor](void* destination) { copy_to_host(tensor, destination); };
    buffer.snapshot = [tensor] { return snapshot_of(tensor); };
  } else {
    buffer.copy = [tensor](void* destination) {
      const at::NoGradGuard no_grad;
      at::from_blob(destination, tensor.sizes(), tensor.options().device(at::kCPU)).copy_(tensor);
    };
  }
  return buffer;
}

void SavingArchive::add(core::Buffer buffer) {
  buffers_.push_back(std::move(buffer));
}

void SavingArchive::tensor(const std::string& name, at::Tensor& value, const at::Tensor&) {
  if (value.defined()) {
    add(buffer_of(name, value));
    std::string kind = kind_of(value) + (is_trained(value) ? trained_kind : "");
    if (!kind.empty()) text(name + kind_suffix, kind);
  } else {
    add(core::Buffer::of_bytes(name + undefined_suffix, "U8", {0}, nullptr, 0));
  }
}

void SavingArchive::fixed_tensor(const std::string& name, at::Tensor& value) {
  add(value.defined() ? buffer_of(name, value)
                      : core::Buffer::of_bytes(name + undefined_suffix, "U8", {0}, nullptr, 0));
  // The program knows it when it restores; who exports the checkpoint does not.
  if (!value.defined() || !value.is_complex()) return;
  std::string kind = complex_kind;
  text(name + kind_suffix, kind);
}

void SavingArchive::number(const std::string& name, const char* dtype, void* bytes, std::size_t size) {
  add(core::Buffer::of_bytes(name, dtype, {}, bytes, size));
}

void SavingArchive::text(const std::string& name, std::string& value) {
  add(core::Buffer::of_bytes(name, "U8", {static_cast<int64_t>(value.size())}, value.data(), value.size()));
}

void SavingArchive::flags(const std::string& name, std::vector<uint8_t>& values) {
  add(core::Buffer::of_bytes(name, "U8", {static_cast<int64_t>(values.size())}, values.data(),
                             values.size()));
}

void SavingArchive::generator(const std::string& name, at::Generator& generator) {
  const std::lock_guard<std::mutex> lock(generator.mutex());
  const at::Tensor state = generator.get_state();
  add(core::Buffer::of_bytes(name, "U8", {state.numel()}, state.data_ptr(), state.nbytes()));
}

int64_t SavingArchive::count(const std::string& name, int64_t live) {
  number(name, "I64", &live, sizeof live);
  return live;
}

// --- restoring ---

void RestoringArchive::complain(const std::string& what) {
  if (problem_.empty()) problem_ = what;
}

const core::LoadedTensor* RestoringArchive::find(const std::string& name) {
  used_.insert(name);
  auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

std::optional<std::string> RestoringArchive::problem() const {
  if (!problem_.empty()) return problem_;
  for (const auto& [name, tensor] : tensors_) {
    if (used_.count(name) == 0) return "the record has " + name + ", the program has not";
  }
  return std::nullopt;
}

void RestoringArchive::tensor(const std::string& name, at::Tensor& value, const at::Tensor& like) {
  if (find(name + undefined_suffix) != nullptr) {
    if (writing_) value = at::Tensor();
    return;
  }
  const core::LoadedTensor* loaded = find(name);
  if (loaded == nullptr) return complain(name + " is not in the record");
  const core::LoadedTensor* said = find(name + kind_suffix);
  if (!writing_) return;
  std::string kind =
      said == nullptr ? "" : std::string(reinterpret_cast<const char*>(said->data), said->bytes);
  const auto trained = kind.find(trained_kind);
  if (trained != std::string::npos) kind.erase(trained);
  if (value.defined() && same_layout(value, *loaded) && kind_of(value) == kind && is_free(value, *loaded)) {
    if (loaded->data != nullptr) write_in_place(value, *loaded);
  } else {
    const at::NoGradGuard no_grad;
    const at::Tensor fresh = of_kind(view_of(*loaded).clone(), kind);
    // An optimizer's state lies where its parameter lies here.
    value = like.defined() && &like != &value ? fresh.to(like.device()) : fresh;
  }
  if (value.is_leaf() && value.requires_grad() != (trained != std::string::npos))
    value.set_requires_grad(trained != std::string::npos);
}

// Returns whether the memory of the tensor was not written yet, or with the same values. Two tensors that
// share memory now, but did not when recorded, must not overwrite each other.
bool RestoringArchive::is_free(const at::Tensor& value, const core::LoadedTensor& loaded) {
  if (value.nbytes() == 0) return true;
  const auto [at, fresh] = written_.emplace(std::make_pair(value.data_ptr(), value.nbytes()), &loaded);
  if (fresh || loaded.data == nullptr) return true;  // nothing is written where the bytes are there already
  const core::LoadedTensor& earlier = *at->second;
  return earlier.data != nullptr && earlier.bytes == loaded.bytes &&
         std::memcmp(earlier.data, loaded.data, loaded.bytes) == 0;
}

void RestoringArchive::fixed_tensor(const std::string& name, at::Tensor& value) {
  if (!value.defined()) {
    if (find(name + undefined_suffix) == nullptr) complain(name + " is not defined in the program");
    return;
  }
  const core::LoadedTensor* loaded = find(name);
  if (loaded == nullptr) return complain(name + " is not in the record");
  if (value.is_complex()) find(name + kind_suffix);  // not there in records of earlier versions
  if (!same_layout(value, *loaded)) {
    return complain(name + " is " + loaded->dtype + " " + core::shape_text(loaded->shape) +
                    " in the record, " + dtype_name(storable(value).scalar_type()) + " " +
                    core::shape_text(shape_of(storable(value))) + " in the program");
  }
  if (writing_ && loaded->data != nullptr) write_in_place(value, *loaded);
}

void RestoringArchive::number(const std::string& name, const char* dtype, void* bytes, std::size_t size) {
  const core::LoadedTensor* loaded = find(name);
  if (loaded == nullptr) return complain(name + " is not in the record");
  if (loaded->dtype != dtype || loaded->bytes != size)
    return complain(name + " has another type in the record");
  if (writing_) std::memcpy(bytes, loaded->data, size);
}

void RestoringArchive::text(const std::string& name, std::string& value) {
  const core::LoadedTensor* loaded = find(name);
  if (loaded == nullptr) return complain(name + " is not in the record");
  if (writing_) value.assign(reinterpret_cast<const char*>(loaded->data), loaded->bytes);
}

void RestoringArchive::flags(const std::string& name, std::vector<uint8_t>& values) {
  const core::LoadedTensor* loaded = find(name);
  if (loaded == nullptr) return complain(name + " is not in the record");
  if (loaded->bytes != values.size()) return complain(name + " has another size in the record");
  // Read in both visits: the flags decide which leaves follow.
  values.assign(loaded->data, loaded->data + loaded->bytes);
}

void RestoringArchive::generator(const std::string& name, at::Generator& generator) {
  const core::LoadedTensor* loaded = find(name);
  if (loaded == nullptr) return complain(name + " is not in the record");
  if (!writing_) return;
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_state(view_of(*loaded).clone());
}

int64_t RestoringArchive::count(const std::string& name, int64_t live) {
  number(name, "I64", &live, sizeof live);
  const core::LoadedTensor* loaded = find(name);
  if (loaded != nullptr && loaded->bytes == sizeof live) std::memcpy(&live, loaded->data, sizeof live);
  // The count bounds a loop. Records are verified, but damage must never make it endless.
  if (live < 0 || live > (int64_t{1} << 32)) {
    complain(name + " is out of range");
    return 0;
  }
  return live;
}

// --- state ---

std::vector<core::Buffer> TorchState::save() {
  SavingArchive archive;
  objects_->walk_all(archive);
  return archive.take();
}

std::size_t TorchState::bytes_to_come() {
  SavingArchive archive;
  objects_->walk_all(archive);
  return archive.bytes_to_come();
}

std::optional<std::string> TorchState::misfit(const core::LoadedTensors& tensors) try {
  RestoringArchive check(tensors, false);
  objects_->walk_all(check);
  return check.problem();
} catch (const std::exception& problem) {  // another number of parameter groups, say; nothing was written
  return problem.what();
}

std::optional<std::string> TorchState::restore(const core::LoadedTensors& tensors) {
  if (auto problem = misfit(tensors)) return problem;
  RestoringArchive write(tensors, true);
  objects_->walk_all(write);
  return write.problem();
}

}  // namespace flor::detail
