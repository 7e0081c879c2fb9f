// flor::Archive saves or restores an object. It visits the object's leaves (tensors, numbers, strings) by
// reference. A restore visits them twice: it checks that the recorded values fit, then writes them in place.
//
// A type of your own takes part through the hook `flor_state`, found beside the type (argument-dependent
// lookup):
//
//   struct Ema { torch::Tensor mean; double decay; int64_t count; };
//   void flor_state(flor::Archive& archive, Ema& ema) {
//     archive("mean", ema.mean);
//     archive("decay", ema.decay);
//     archive("count", ema.count);
//   }
//
// A hook visits the same names each time. It may ask writing() to follow up a restore. Where it throws while
// it is saved, a recording ends with a warning, and a worker of a replay ends. Where it throws in the first
// visit of a restore, the checkpoint is not used.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define FLOR_API __attribute__((visibility("default")))

namespace flor {

class FLOR_API Archive {
 public:
  virtual ~Archive() = default;

  // Visits a member of an object under its name. Give each member of an object another name.
  template <class T>
  void operator()(const std::string& name, T& member);

  // --- The leaves. `name` is the dotted path from the block's object. For the library; use operator(). ---

  // A tensor that may be rebound. Writes its recorded value in place if the tensor has the recorded shape,
  // type and device, and its memory has not received another value in this restore. Otherwise binds it to a
  // new tensor: on the device of `like`, or on the recorded one if `like` is undefined, or is the tensor
  // itself.
  virtual void tensor(const std::string& name, at::Tensor& value, const at::Tensor& like) = 0;
  // A tensor that is never rebound: a parameter or buffer of a module. A recorded value of another shape or
  // type does not fit.
  virtual void fixed_tensor(const std::string& name, at::Tensor& value) = 0;
  // A number. `dtype` is its safetensors type; `bytes` points to its `size` bytes.
  virtual void number(const std::string& name, const char* dtype, void* bytes, std::size_t size) = 0;
  // A text. A restore may change its length.
  virtual void text(const std::string& name, std::string& value) = 0;
  // Bytes that decide which leaves follow. Both visits of a restore set them to the recorded ones. A value of
  // another size does not fit.
  virtual void flags(const std::string& name, std::vector<uint8_t>& values) = 0;
  virtual void generator(const std::string& name, at::Generator& generator) = 0;

  // Adds to the estimate of a checkpoint's size bytes that the first use of the object will allocate.
  virtual void to_come(std::size_t /*bytes*/) {}

  // Returns whether this visit writes recorded values to the object.
  virtual bool writing() const = 0;
  // Returns true in both visits of a restore.
  virtual bool restoring() const = 0;
  // Saves `live` and returns it; in a restore, returns the recorded count. For a walk that must know how many
  // leaves follow.
  virtual int64_t count(const std::string& name, int64_t live) = 0;

 protected:
  std::string prefix_;

 private:
  template <class T>
  friend void walk(Archive& archive, const std::string& name, T& object);
};

namespace detail {

FLOR_API void walk_module(Archive& archive, const std::string& name, torch::nn::Module& module);
FLOR_API void walk_optimizer(Archive& archive, const std::string& name, torch::optim::Optimizer& optimizer);
FLOR_API void walk_scheduler(Archive& archive, const std::string& name, torch::optim::LRScheduler& scheduler);

template <class T, class = void>
struct has_hook : std::false_type {};
template <class T>
struct has_hook<T, std::void_t<decltype(flor_state(std::declval<Archive&>(), std::declval<T&>()))>>
    : std::true_type {};

template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};

template <class T>
struct is_shared_module : std::false_type {};
template <class T>
struct is_shared_module<std::shared_ptr<T>> : std::is_base_of<torch::nn::Module, T> {};

// TORCH_MODULE holders derive from ModuleHolder<Impl>.
template <class T>
std::true_type holder_test(const torch::nn::ModuleHolder<T>*);
std::false_type holder_test(const void*);
template <class T>
inline constexpr bool is_holder = decltype(holder_test(std::declval<T*>()))::value;

template <class T>
constexpr const char* dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return "BOOL";
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 8 ? "F64" : "F32";
  if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 8 ? "I64" : sizeof(T) == 4 ? "I32" : sizeof(T) == 2 ? "I16" : "I8";
  return sizeof(T) == 8 ? "U64" : sizeof(T) == 4 ? "U32" : sizeof(T) == 2 ? "U16" : "U8";
}

template <class T>
inline constexpr bool never = false;

}  // namespace detail

// For the library: visits one object. Accepts the types that SkipBlock lists (flor/skip_block.h).
template <class T>
void walk(Archive& archive, const std::string& name, T& object);

template <class T>
void walk_vector(Archive& archive, const std::string& name, std::vector<T>& values) {
  const auto recorded =
      static_cast<std::size_t>(archive.count(name + ".size", static_cast<int64_t>(values.size())));
  if (archive.writing()) values.resize(recorded);
  for (std::size_t i = 0; i < recorded; ++i) {
    const std::string element = name + "." + std::to_string(i);
    if constexpr (std::is_same_v<T, bool>) {
      bool value = i < values.size() && values[i];
      walk(archive, element, value);
      if (archive.writing()) values[i] = value;
    } else if (i < values.size()) {
      walk(archive, element, values[i]);
    } else {
      T fresh{};
      walk(archive, element, fresh);
    }
  }
}

template <class T>
void walk(Archive& archive, const std::string& name, T& object) {
  if constexpr (detail::has_hook<T>::value) {
    const std::string outer = std::exchange(archive.prefix_, name);
    flor_state(archive, object);
    archive.prefix_ = outer;
  } else if constexpr (std::is_base_of_v<at::Tensor, T>) {
    archive.tensor(name, object, object);
  } else if constexpr (std::is_base_of_v<at::Generator, T>) {
    archive.generator(name, object);
  } else if constexpr (std::is_base_of_v<torch::nn::Module, T>) {
    detail::walk_module(archive, name, object);
  } else if constexpr (detail::is_shared_module<T>::value || detail::is_holder<T>) {
    if (!object)
      throw std::invalid_argument("object " + name + " is an empty module; create it before flor sees it");
    detail::walk_module(archive, name, *object);
  } else if constexpr (std::is_base_of_v<torch::optim::Optimizer, T>) {
    detail::walk_optimizer(archive, name, object);
  } else if constexpr (std::is_base_of_v<torch::optim::LRScheduler, T>) {
    detail::walk_scheduler(archive, name, object);
  } else if constexpr (std::is_arithmetic_v<T> && sizeof(T) <= 8 && !std::is_const_v<T>) {
    archive.number(name, detail::dtype_of<T>(), &object, sizeof(T));
  } else if constexpr (std::is_same_v<T, std::string>) {
    archive.text(name, object);
  } else if constexpr (detail::is_vector<T>::value) {
    walk_vector(archive, name, object);
  } else {
    static_assert(detail::never<T>,
                  "flor cannot checkpoint this type by itself: give it the hook "
                  "`void flor_state(flor::Archive&, T&)` (see flor/archive.h)");
  }
}

template <class T>
void Archive::operator()(const std::string& name, T& member) {
  walk(*this, prefix_ + "." + name, member);
}

// The objects given to a block or guard, by reference. An implementation detail of SkipBlock and
// checkpointing.
class Objects {
 public:
  virtual ~Objects() = default;
  virtual void walk_all(Archive& archive) = 0;
};

template <class... T>
class ObjectsOf : public Objects {
 public:
  explicit ObjectsOf(T&... objects) : objects_(objects...) {}
  void walk_all(Archive& archive) override { walk_each(archive, std::index_sequence_for<T...>{}); }

 private:
  template <std::size_t... I>
  void walk_each(Archive& archive, std::index_sequence<I...>) {
    (walk(archive, std::to_string(I), std::get<I>(objects_)), ...);
  }
  std::tuple<T&...> objects_;
};

}  // namespace flor
