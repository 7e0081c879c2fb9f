// What the values of library functions lead to.
#include <unordered_set>

#include "probes/cxx/library.h"

namespace flor::probes {

namespace {

using Words = std::unordered_set<std::string>;

}  // namespace

bool is_pointer_name(const std::string& name) {
  static const Words kPointers = {
      "begin",       "end",         "cbegin",    "cend",        "rbegin",         "rend",
      "data",        "data_ptr",    "next",      "prev",        "const_data_ptr", "mutable_data_ptr",
      "find",        "find_if",     "addressof", "lower_bound", "upper_bound",    "max_element",
      "min_element", "find_if_not", "get",       "ptr",         "get_if",         "partition_point",
      "make_shared", "make_unique", "crbegin",   "crend"};
  return kPointers.count(name) != 0;
}

bool returns_argument(const std::string& qualified) {
  static const Words kNames = {"std::max", "std::min", "std::clamp", "max", "min", "clamp"};
  return kNames.count(qualified) != 0;
}

bool is_view_type(const std::string& type) {
  const std::string name = last_part(type);
  return name == "span" || name == "initializer_list";
}

}  // namespace flor::probes
