#include "probes/cxx/library.h"

#include <unordered_set>

namespace flor::probes {
namespace {

using Words = std::unordered_set<std::string>;

bool has(const Words& words, const std::string& word) {
  return words.count(word) != 0;
}

// clang-format off
const Words kFreshMethods = {
    "item", "sum", "mean", "std", "var", "norm", "max", "min", "amax", "amin", "argmax", "argmin", "median",
    "mode", "prod", "cumsum", "cumprod", "abs", "neg", "exp", "log", "log2", "log10", "log1p", "expm1",
    "sqrt", "rsqrt", "pow", "square", "sin", "cos", "tan", "tanh", "sigmoid", "relu", "softmax",
    "log_softmax", "logsumexp", "add", "sub", "mul", "div", "fmod", "remainder", "mm", "bmm", "matmul",
    "mv", "dot", "addmm", "outer", "cross", "dist", "clone", "eq", "ne", "lt", "le", "gt", "ge", "equal",
    "allclose", "isclose", "all", "any", "logical_and", "logical_or", "logical_not", "isnan", "isinf",
    "isfinite", "nonzero", "count_nonzero", "floor", "ceil", "round", "trunc", "sign", "clamp", "clip",
    "clamp_min", "clamp_max", "sort", "argsort", "topk", "kthvalue", "unique", "bincount", "histc",
    "quantile", "where", "masked_fill", "masked_select", "index_select", "gather", "scatter", "scatter_add",
    "index_add", "repeat", "repeat_interleave", "roll", "flip", "tril", "triu", "inverse", "det", "trace",
    "svd", "qr", "one_hot", "rand_like", "zeros_like", "ones_like", "new_zeros", "new_ones", "new_empty",
    "new_full", "bernoulli", "multinomial", "dim", "size", "sizes", "stride", "strides", "numel",
    "ndimension", "nbytes", "itemsize", "element_size", "dtype", "scalar_type", "device", "defined",
    "is_contiguous", "is_cuda", "is_floating_point", "requires_grad", "is_leaf", "use_count", "toString",
    "storage_offset", "_version", "empty", "length", "capacity", "count", "contains", "compare", "substr",
    "starts_with", "ends_with", "c_str", "str", "has_value", "time_since_epoch", "tellp", "good", "fail",
    "is_open", "name", "value_or", "is_training", "get_lr", "lr", "momentum", "weight_decay", "betas",
    "eps", "num_parameters", "time"};

const Words kViewMethods = {
    "view", "view_as", "reshape", "reshape_as", "select", "slice", "narrow", "squeeze", "unsqueeze",
    "transpose", "t", "permute", "movedim", "expand", "expand_as", "flatten", "unflatten", "contiguous",
    "detach", "data", "alias", "to", "cpu", "cuda", "type", "type_as", "toType", "index", "chunk", "split",
    "unbind", "diagonal", "diag", "unfold", "real", "imag", "values", "indices", "as_strided", "swapaxes",
    "parameters", "named_parameters", "buffers", "named_buffers", "children", "named_children", "modules",
    "named_modules", "param_groups", "options", "param_groups", "defaults", "get", "ptr", "front", "back",
    "at", "begin", "end", "cbegin", "cend", "rbegin", "rend", "crbegin", "crend", "find", "lower_bound",
    "upper_bound", "first", "second", "key", "value", "pairs", "keys", "top", "c10", "weight", "bias",
    "what", "map", "size_hint", "state", "flat", "as", "toTensor", "sub_slice", "unsafeGetTensorImpl", "exp_avg",
    "exp_avg_sq", "momentum_buffer", "square_avg", "dataset", "accessor_copy", "item_or", "data_ptr",
    "const_data_ptr", "mutable_data_ptr"};

const Words kStoringMethods = {
    "push_back", "emplace_back", "push_front", "emplace_front", "push", "emplace", "insert",
    "insert_or_assign", "try_emplace", "append", "assign", "add_module"};

// Changes only its object.
const Words kChangingMethods = {
    "clear", "resize", "reserve", "pop_back", "pop_front", "pop", "erase", "shrink_to_fit", "reset", "step",
    "train", "eval", "next", "seed", "set_lr", "scale_options", "open", "close", "flush", "precision",
    "setf", "fill", "sort_in_place", "set_requires_grad", "update_scale"};

// Only reads its object, for other variables. Gradients have their own rules (gradients.h).
const Words kGradientMethods = {
    "backward", "grad", "mutable_grad", "retain_grad", "zero_grad"};

const Words kTorchViews = {
    "reshape", "squeeze", "unsqueeze", "transpose", "t", "flatten", "narrow", "select", "slice",
    "from_blob", "chunk", "split", "unbind", "permute", "movedim", "diagonal", "swapaxes", "atleast_1d",
    "broadcast_to", "broadcast_tensors", "view_as_real", "view_as_complex", "real", "imag", "detach",
    "expand_copy", "ravel", "dequantize", "positive", "conj", "atleast_2d", "atleast_3d", "tensor_split",
    "hsplit", "vsplit", "adjoint", "as_strided", "unsafe_chunk", "unsafe_split", "alias", "contiguous",
    "Tensor"};

// Names of torch and at that do more than compute.
const Words kTorchOthers = {
    "save", "load", "manual_seed", "set_num_threads", "set_num_interop_threads", "set_default_dtype",
    "init_num_threads", "globalContext", "load_state_dict"};

const Words kStdFresh = {
    "max", "min", "abs", "fabs", "sqrt", "exp", "exp2", "log", "log2", "log10", "log1p", "pow", "sin",
    "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "floor", "ceil", "round",
    "lround", "llround", "trunc", "fmod", "fmax", "fmin", "hypot", "cbrt", "erf", "isnan", "isinf",
    "isfinite", "signbit", "clamp", "to_string", "stoi", "stol", "stoll", "stoul", "stoull", "stod", "stof",
    "size", "ssize", "empty", "distance", "accumulate", "reduce", "inner_product", "count", "count_if",
    "all_of", "any_of", "none_of", "equal", "is_sorted", "lexicographical_compare", "mismatch", "gcd",
    "lcm", "midpoint", "lerp", "setprecision", "setw", "setfill", "fixed", "scientific", "endl", "flush",
    "left", "right", "boolalpha", "hex", "dec", "string", "string_view", "get_if_none", "numeric_limits",
    "binary_search", "quoted", "size_t", "int64_t", "int32_t", "uint64_t", "uint32_t", "uint8_t", "int8_t",
    "double_t", "complex", "less", "greater", "plus", "minus", "multiplies", "hash", "isdigit", "isspace",
    "isalpha", "toupper", "tolower", "strlen", "strcmp", "memcmp", "put_time", "getenv", "sleep_for", "sleep_until", "yield", "make_error_code", "nan",
    "div", "milli", "micro", "nano", "ratio", "chrono", "duration_cast", "duration", "time_point_cast",
    "seconds", "milliseconds", "microseconds", "nanoseconds", "minutes", "hours", "nullopt", "nothrow",
    "uniform_real_distribution", "uniform_int_distribution", "normal_distribution"};

// Functions whose result may share storage with their arguments.
const Words kStdViews = {
    "begin", "end", "cbegin", "cend", "rbegin", "rend", "get", "make_pair", "make_tuple", "make_shared",
    "make_unique", "make_optional", "forward", "ref", "cref", "as_const", "addressof", "data", "next",
    "prev", "max_element", "min_element", "minmax_element", "find", "find_if", "find_if_not", "lower_bound",
    "upper_bound", "partition_point", "vector", "array", "map", "unordered_map", "set", "unordered_set",
    "deque", "list", "pair", "tuple", "optional", "variant", "span", "initializer_list", "function",
    "forward_as_tuple", "get_if", "visit_none", "static_pointer_cast", "dynamic_pointer_cast", "shared_ptr",
    "unique_ptr", "weak_ptr", "reference_wrapper", "back_inserter", "make_move_iterator", "tie",
    "reverse_iterator", "queue", "stack", "priority_queue", "istringstream", "ostringstream",
    "stringstream", "any", "bitset", "valarray", "multimap", "multiset", "forward_list"};

const Words kStdAlgorithms = {
    "sort", "stable_sort", "partial_sort", "nth_element", "for_each", "for_each_n", "transform", "copy",
    "copy_n", "copy_if", "fill", "fill_n", "generate", "generate_n", "iota", "reverse", "rotate", "shuffle",
    "unique", "remove", "remove_if", "replace", "replace_if", "partition", "stable_partition", "merge",
    "inplace_merge", "partial_sum", "adjacent_difference", "exclusive_scan", "inclusive_scan", "swap",
    "iter_swap", "swap_ranges", "move", "exchange", "push_heap", "pop_heap", "make_heap", "sort_heap",
    "set_union", "set_difference", "set_intersection", "erase", "erase_if", "advance", "getline", "apply",
    "invoke", "visit", "transform_reduce"};

// Functions of C, without a namespace.
const Words kCFresh = {
    "printf", "fprintf", "puts", "putchar", "fputs", "fflush", "abs", "fabs", "sqrt", "exp", "log", "log2",
    "log10", "pow", "sin", "cos", "tan", "tanh", "floor", "ceil", "round", "fmod", "fmax", "fmin", "isnan",
    "isinf", "isfinite", "strlen", "strcmp", "atoi", "atol", "atoll", "atof", "assert", "TORCH_CHECK",
    "TORCH_WARN", "TORCH_INTERNAL_ASSERT", "TORCH_WARN_ONCE", "AT_ASSERT", "static_assert", "sizeof",
    "alignof", "typeid", "decltype", "max", "min", "lround", "hypot", "size_t", "int64_t", "int32_t",
    "uint64_t", "uint32_t", "uint8_t", "int8_t", "int16_t", "uint16_t", "noexcept", "exit", "abort"};

const Words kNumbers = {
    "bool", "char", "short", "int", "long", "float", "double", "unsigned", "signed", "size_t", "ssize_t",
    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "ptrdiff_t",
    "void"};

const Words kContainers = {
    "vector", "array", "map", "unordered_map", "set", "unordered_set", "deque", "list", "pair", "tuple",
    "optional", "initializer_list", "multimap", "multiset", "bitset", "valarray", "queue", "stack",
    "priority_queue", "span", "forward_list"};

const Words kVolatileNames = {
    "now", "clock", "time", "gettimeofday", "clock_gettime", "getrusage", "localtime", "gmtime", "mktime",
    "ctime", "strftime", "steady_clock", "system_clock", "high_resolution_clock", "memory_allocated",
    "max_memory_allocated", "memory_reserved", "getDeviceStats", "cudaMemGetInfo", "mallinfo", "mallinfo2",
    "malloc_info", "sysinfo", "getloadavg", "ifstream", "fstream", "fopen", "freopen", "fread", "fgets",
    "fscanf", "popen", "stat", "lstat", "fstat", "statfs", "statvfs", "opendir", "readdir", "recv",
    "recvfrom", "gethostname", "getpid", "random_device", "omp_get_wtime", "times", "rdtsc", "__rdtsc",
    "file_size", "last_write_time", "directory_iterator", "recursive_directory_iterator", "exists",
    "is_regular_file", "space", "cin", "scanf", "getloadaverage", "get_id", "rusage", "timespec", "timeval",
    "hardware_concurrency"};

// The functions among them that write to their arguments.
const Words kFilling = {
    "fread", "fgets", "fscanf", "scanf", "recv", "recvfrom", "stat", "lstat", "fstat", "statfs", "statvfs",
    "gettimeofday", "clock_gettime", "getrusage", "time", "times", "sysinfo", "getloadavg", "gethostname",
    "cudaMemGetInfo", "getDeviceStats", "mktime", "strftime", "rdtsc", "__rdtsc"};

// clang-format on

}  // namespace

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string last_part(const std::string& qualified) {
  const size_t at = qualified.rfind("::");
  return at == std::string::npos ? qualified : qualified.substr(at + 2);
}

Method method_of(const std::string& name) {
  if (has(kFreshMethods, name)) return Method::kFresh;
  if (has(kViewMethods, name)) return Method::kView;
  if (has(kGradientMethods, name)) return Method::kView;
  if (name == "forward") return Method::kModule;
  if (has(kStoringMethods, name)) return Method::kStores;
  if (has(kChangingMethods, name)) return Method::kChanges;
  if (name.size() > 1 && name.back() == '_') return Method::kChanges;  // PyTorch's in-place convention
  return Method::kUnknown;
}

Library function_of(const std::string& qualified) {
  const std::string name = last_part(qualified);
  // Files are not part of the state of a program.
  if (begins_with(qualified, "fs::") || begins_with(qualified, "std::filesystem::")) return Library::kFresh;
  if (begins_with(qualified, "flor::")) return Library::kFresh;
  if (has(kFilling, name)) return Library::kFills;
  if (has(kVolatileNames, name)) return Library::kFresh;
  const bool torch = begins_with(qualified, "torch::") || begins_with(qualified, "at::") ||
                     begins_with(qualified, "c10::") || begins_with(qualified, "nn::") ||
                     begins_with(qualified, "F::");
  if (torch) {
    if (name.size() > 1 && name.back() == '_') return Library::kFirst;
    if (ends_with(name, "_out")) return Library::kFirst;
    if (name == "load") return Library::kFirst;
    if (has(kTorchOthers, name)) return Library::kUnknown;
    if (qualified.find("optim::") != std::string::npos || qualified.find("data::") != std::string::npos)
      return Library::kView;
    if (has(kTorchViews, name) || qualified.find("::Tensor") != std::string::npos) return Library::kView;
    return Library::kFresh;
  }
  if (begins_with(qualified, "std::")) {
    if (has(kStdFresh, name) || has(kVolatileNames, name) || begins_with(qualified, "std::chrono::"))
      return Library::kFresh;
    if (has(kStdViews, name)) return Library::kView;
    if (has(kStdAlgorithms, name)) return Library::kAlgorithm;
    if (has(kCFresh, name)) return Library::kFresh;
    return Library::kUnknown;
  }
  if (qualified == name) {
    if (has(kCFresh, name) || is_number_type(name) || has(kVolatileNames, name)) return Library::kFresh;
    if (name == "Slice" || name == "IntArrayRef") return Library::kFresh;
    if (begins_with(name, "register_")) return Library::kView;  // within a module
  }
  return Library::kUnknown;
}

bool is_library_object(const std::string& qualified) {
  for (const char* begin : {"std::", "torch::", "at::", "c10::", "flor::"}) {
    if (begins_with(qualified, begin)) return true;
  }
  static const Words kObjects = {"cout",   "cerr", "clog",     "endl", "stdout",
                                 "stderr", "NAN",  "INFINITY", "EOF",  "errno"};
  return has(kObjects, qualified);
}

bool is_number_type(const std::string& type) {
  const std::string first = type.substr(0, type.find(' '));
  const std::string plain = begins_with(first, "std::") ? first.substr(5) : first;
  return has(kNumbers, plain);
}

bool is_plain_type(const std::string& type) {
  return is_number_type(type) || type == "std::string" || type == "string" ||
         begins_with(type, "std::chrono") || type == "std::mt19937" || ends_with(type, "Options");
}

bool is_container_type(const std::string& type) {
  return begins_with(type, "std::") ? has(kContainers, type.substr(5)) : has(kContainers, type);
}

bool is_guard_type(const std::string& type) {
  const std::string name = last_part(type);
  if (name.find("uard") != std::string::npos || name.find("lock") != std::string::npos) return true;
  return name.find("thread") != std::string::npos || ends_with(name, "Mode") || name == "future" ||
         name == "promise" || name == "async";
}

bool is_probe_type(const std::string& type) {
  if (is_plain_type(type) || is_container_type(type)) return true;
  static const Words kTypes = {"torch::Tensor",    "at::Tensor",           "Tensor",
                               "std::ofstream",    "std::ostringstream",   "std::stringstream",
                               "std::string_view", "torch::TensorOptions", "torch::Device",
                               "c10::optional",    "torch::Scalar",        "std::mt19937",
                               "torch::TensorList"};
  return has(kTypes, type);
}

bool is_module_without_mode(const std::string& type, bool dropout) {
  if (!begins_with(type, "torch::nn::") && !begins_with(type, "nn::")) return false;
  static const Words kPlain = {"Linear",          "Bilinear",        "Conv1d",    "Conv2d",    "Conv3d",
                               "ConvTranspose1d", "ConvTranspose2d", "Embedding", "LayerNorm", "GroupNorm",
                               "GRUCell",         "LSTMCell",        "RNNCell",   "ReLU",      "Flatten"};
  static const Words kRecurrent = {"GRU", "LSTM", "RNN"};
  return has(kPlain, last_part(type)) || (!dropout && has(kRecurrent, last_part(type)));
}

bool is_volatile_name(const std::string& qualified) {
  const std::string name = last_part(qualified);
  if (has(kVolatileNames, name)) return true;
  return qualified.find("chrono::") != std::string::npos && qualified.find("_clock") != std::string::npos;
}

bool is_clock_name(const std::string& qualified) {
  static const Words kFiles = {"ifstream",
                               "fstream",
                               "fopen",
                               "freopen",
                               "fread",
                               "fgets",
                               "fscanf",
                               "popen",
                               "stat",
                               "lstat",
                               "fstat",
                               "statfs",
                               "statvfs",
                               "opendir",
                               "readdir",
                               "file_size",
                               "directory_iterator",
                               "recursive_directory_iterator",
                               "exists",
                               "is_regular_file",
                               "space",
                               "cin",
                               "scanf",
                               "gethostname",
                               "hardware_concurrency"};
  return !has(kFiles, last_part(qualified));
}

bool is_time_name(const std::string& qualified) {
  static const Words kTimes = {"now",           "clock",        "time",         "gettimeofday",
                               "clock_gettime", "steady_clock", "times",        "omp_get_wtime",
                               "rdtsc",         "__rdtsc",      "system_clock", "high_resolution_clock"};
  return has(kTimes, last_part(qualified));
}

bool is_keyword(const std::string& word) {
  static const Words kKeywords = {"alignas",
                                  "alignof",
                                  "asm",
                                  "auto",
                                  "bool",
                                  "break",
                                  "case",
                                  "catch",
                                  "char",
                                  "class",
                                  "co_await",
                                  "co_return",
                                  "co_yield",
                                  "const",
                                  "const_cast",
                                  "consteval",
                                  "constexpr",
                                  "continue",
                                  "decltype",
                                  "default",
                                  "delete",
                                  "do",
                                  "double",
                                  "dynamic_cast",
                                  "else",
                                  "enum",
                                  "explicit",
                                  "export",
                                  "extern",
                                  "false",
                                  "float",
                                  "for",
                                  "friend",
                                  "goto",
                                  "if",
                                  "inline",
                                  "int",
                                  "long",
                                  "mutable",
                                  "namespace",
                                  "new",
                                  "noexcept",
                                  "nullptr",
                                  "operator",
                                  "private",
                                  "protected",
                                  "public",
                                  "register",
                                  "reinterpret_cast",
                                  "return",
                                  "short",
                                  "signed",
                                  "sizeof",
                                  "static",
                                  "static_assert",
                                  "static_cast",
                                  "struct",
                                  "switch",
                                  "template",
                                  "thread_local",
                                  "throw",
                                  "true",
                                  "try",
                                  "typedef",
                                  "typeid",
                                  "typename",
                                  "union",
                                  "unsigned",
                                  "using",
                                  "virtual",
                                  "void",
                                  "volatile",
                                  "while",
                                  "and",
                                  "or",
                                  "not"};
  return has(kKeywords, word);
}

bool is_assignment(const std::string& punctuator) {
  if (punctuator.empty() || punctuator.back() != '=') return false;
  return punctuator != "==" && punctuator != "!=" && punctuator != "<=" && punctuator != ">=";
}

}  // namespace flor::probes
