// What is known about names of LibTorch and the standard library. A name that is not listed may change
// everything it is given (docs/semantics.md, rule 18a). So a missing name costs time, and a wrong entry costs
// correctness.
#pragma once

#include <string>
#include <string_view>

namespace flor::probes {

// Returns "relu" for "torch::relu".
std::string last_part(const std::string& qualified);
inline bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}
bool ends_with(const std::string& text, const std::string& end);

// What a call does to its object.
enum class Method {
  // May change the object and the arguments, and may keep the arguments.
  kUnknown,
  // Reads. The result shares nothing with the object.
  kFresh,
  // Reads. The result may share storage with the object.
  kView,
  // Changes the object, reads the arguments.
  kChanges,
  // Changes the object, which may share storage with the arguments afterwards.
  kStores,
  // LibTorch's forward: changes the module (batch statistics), reads the arguments. The result is fresh.
  kModule
};
Method method_of(const std::string& name);

// Returns whether a function or method of that name returns a pointer or an iterator.
bool is_pointer_name(const std::string& name);

// What a function does to its arguments.
enum class Library {
  // May change them.
  kUnknown,
  // Reads them.
  kFresh,
  // Reads them. The result may share storage with them.
  kView,
  // Changes the first one (torch::nn::init::…_, torch::load), reads the others.
  kFirst,
  // Writes data from a file or the machine into them (fread, clock_gettime).
  kFills,
  // Changes what its iterators refer to, and calls the lambdas among the arguments.
  kAlgorithm
};
// `qualified`: the name with its namespaces: "torch::relu", "std::max", "printf".
Library function_of(const std::string& qualified);

// Returns whether it only reads its arguments, and returns a reference to one.
bool returns_argument(const std::string& qualified);

// Returns whether the name is a constant, or an output stream of the process: a replay needs no value for it.
bool is_library_object(const std::string& qualified);

// Types whose copies share nothing: numbers, enumerations of the standard library, std::string. `type`
// without cv and reference.
bool is_number_type(const std::string& type);
bool is_plain_type(const std::string& type);
// Returns whether it is a container of the standard library: iterating over it changes nothing.
bool is_container_type(const std::string& type);
// Returns whether it is one of these that refers to the elements of another.
bool is_view_type(const std::string& type);
// Returns whether creating an object of the class has an effect by itself: locks, gradient modes, threads.
bool is_guard_type(const std::string& type);
// Returns whether a probe may create objects of this type: plain types, containers, tensors, output streams.
bool is_probe_type(const std::string& type);

// Returns whether such a LibTorch module computes the same in training and evaluation mode. `dropout`:
// modules that accept a dropout rate may have one.
bool is_module_without_mode(const std::string& type, bool dropout);

// Returns whether the name reads a clock, memory in use, a file or the network (rule 18b).
bool is_volatile_name(const std::string& qualified);

// Returns whether such a name yields another value at each call.
bool is_clock_name(const std::string& qualified);

// Returns whether the name yields the time. A replay measures the same durations as the record between two
// such calls if nothing is skipped between them.
bool is_time_name(const std::string& qualified);

bool is_keyword(const std::string& word);
// `=`, `+=`, …, not `++`.
bool is_assignment(const std::string& punctuator);

}  // namespace flor::probes
