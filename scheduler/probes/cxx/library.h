// What is known of LibTorch's and the standard library's names. Whatever is not listed may change all that it
// is given (docs/semantics.md, rule 18a), so a missing name costs time and a wrong one costs a row.
#pragma once

#include <string>
#include <string_view>

namespace flor::probes {

// "relu" of "torch::relu".
std::string last_part(const std::string& qualified);
inline bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}
bool ends_with(const std::string& text, const std::string& end);

// What a call does to its object.
enum class Method {
  kUnknown,  // may change the object and the arguments, and may keep the arguments
  kFresh,    // reads; the result shares nothing with the object
  kView,     // reads; the result may share storage with the object
  kChanges,  // changes the object, reads the arguments
  kStores,   // changes the object, which may share storage with the arguments afterwards
  kModule    // LibTorch's forward: changes the module (batch statistics), reads the arguments; result fresh
};
Method method_of(const std::string& name);

// What a function does to its arguments.
enum class Library {
  kUnknown,   // may change them
  kFresh,     // reads
  kView,      // reads; the result may share storage with them
  kFirst,     // changes the first one (torch::nn::init::…_, torch::load), reads the others
  kFills,     // writes what it reads of a file or of the machine into them (fread, clock_gettime)
  kAlgorithm  // changes what its iterators lead to and calls the lambdas among the arguments
};
// `qualified` is the name with its namespaces: "torch::relu", "std::max", "printf".
Library function_of(const std::string& qualified);

// A constant, or a stream of the process's own output: nothing that a replay must have.
bool is_library_object(const std::string& qualified);

// A type whose values share nothing when they are copied: numbers, enumerations of the standard library,
// std::string. Without cv and reference.
bool is_number_type(const std::string& type);
bool is_plain_type(const std::string& type);
// A container of the standard library: to walk through it changes nothing.
bool is_container_type(const std::string& type);
// A class whose objects act by being there: locks, gradient modes, threads.
bool is_guard_type(const std::string& type);
// A type of which a probe may make objects of its own: plain ones, containers, tensors, output streams.
bool is_probe_type(const std::string& type);

// Does such a module of LibTorch's compute the same when it trains as when it evaluates? `dropout`: those
// that take a rate of dropout may have been given one.
bool is_module_without_mode(const std::string& type, bool dropout);

// Does the name read a clock, memory in use, a file or the network (rule 18b)?
bool is_volatile_name(const std::string& qualified);

// Of these, does it show another value each time it is asked?
bool is_clock_name(const std::string& qualified);

// Does it show the time? Between two such looks with nothing skipped, a replay measures what record would
// have.
bool is_time_name(const std::string& qualified);

bool is_keyword(const std::string& word);
bool is_assignment(const std::string& punctuator);  // `=`, `+=`, …; not `++`

}  // namespace flor::probes
