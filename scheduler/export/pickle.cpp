// The comments beside the opcodes are their names in Python's Lib/pickletools.py.
#include "export/pickle.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "core/checkpoint/buffers.h"

namespace flor::exporting {
namespace {

class Pickler {
 public:
  Pickler() : out_("\x80\x02", 2) {}  // PROTO 2

  void opcode(char code) { out_ += code; }

  void global(const std::string& module, const std::string& name) {
    out_ += 'c' + module + '\n' + name + '\n';  // GLOBAL
  }

  void text(const std::string& value) {
    out_ += 'X';  // BINUNICODE
    little_endian(value.size(), 4);
    out_ += value;
  }

  // Writes a number that is not negative.
  void number(int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    if (value < 256) {
      out_ += 'K';  // BININT1
      little_endian(bits, 1);
    } else if (value <= std::numeric_limits<std::int32_t>::max()) {
      out_ += 'J';  // BININT
      little_endian(bits, 4);
    } else {
      out_ += "\x8a\x08";  // LONG1 of 8 bytes, two's complement
      little_endian(bits, 8);
    }
  }

  void tuple(const std::vector<int64_t>& numbers) {
    if (numbers.empty()) {
      out_ += ')';  // EMPTY_TUPLE
      return;
    }
    out_ += '(';  // MARK
    for (const int64_t value : numbers) number(value);
    out_ += 't';  // TUPLE
  }

  std::string end() && {
    out_ += '.';  // STOP
    return std::move(out_);
  }

 private:
  void little_endian(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out_ += static_cast<char>(value >> (8 * i));
  }

  std::string out_;
};

// Returns the strides of a contiguous tensor, in elements. A dimension of size 0 counts as 1, as in PyTorch.
std::vector<int64_t> strides_of(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (std::size_t i = shape.size(); i > 0; --i) {
    strides[i - 1] = stride;
    stride *= std::max<int64_t>(shape[i - 1], 1);
  }
  return strides;
}

// _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, backward_hooks)
void pickle_tensor(Pickler& pickler, const PickledTensor& tensor, std::size_t key) {
  pickler.global("torch._utils", "_rebuild_tensor_v2");
  pickler.opcode('(');  // MARK: the arguments
  pickler.opcode('(');  // MARK: ("storage", type, key, device, number of elements)
  pickler.text("storage");
  pickler.global("torch", tensor.storage);
  pickler.text(std::to_string(key));
  pickler.text("cpu");
  pickler.number(core::elements(tensor.shape));
  pickler.opcode('t');  // TUPLE
  pickler.opcode('Q');  // BINPERSID
  pickler.number(0);
  pickler.tuple(tensor.shape);
  pickler.tuple(strides_of(tensor.shape));
  pickler.opcode('\x89');  // NEWFALSE
  pickler.global("collections", "OrderedDict");
  pickler.tuple({});
  pickler.opcode('R');  // REDUCE: the hooks
  pickler.opcode('t');  // TUPLE
  pickler.opcode('R');  // REDUCE: the tensor
}

}  // namespace

std::optional<std::string> storage_of(const std::string& dtype) {
  static constexpr std::array<std::array<const char*, 2>, 12> known{{{"F64", "DoubleStorage"},
                                                                     {"F32", "FloatStorage"},
                                                                     {"F16", "HalfStorage"},
                                                                     {"BF16", "BFloat16Storage"},
                                                                     {"I64", "LongStorage"},
                                                                     {"I32", "IntStorage"},
                                                                     {"I16", "ShortStorage"},
                                                                     {"I8", "CharStorage"},
                                                                     {"U8", "ByteStorage"},
                                                                     {"BOOL", "BoolStorage"},
                                                                     {complex_f64, "ComplexDoubleStorage"},
                                                                     {complex_f32, "ComplexFloatStorage"}}};
  for (const auto& [from, to] : known) {
    if (dtype == from) return to;
  }
  return std::nullopt;
}

std::string pickled_dict(const std::vector<PickledTensor>& tensors) {
  Pickler pickler;
  pickler.opcode('}');  // EMPTY_DICT
  pickler.opcode('(');  // MARK
  for (std::size_t key = 0; key < tensors.size(); ++key) {
    pickler.text(tensors[key].name);
    pickle_tensor(pickler, tensors[key], key);
  }
  pickler.opcode('u');  // SETITEMS
  return std::move(pickler).end();
}

}  // namespace flor::exporting
