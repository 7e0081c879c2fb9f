#include "core/resuming/entry_generators.h"

#include <string_view>

#include "core/session/mismatch.h"

namespace flor::core {
namespace {

// Begins the names of values that are compared as generators are (replay/python/flor/_own_start.py).
const std::string begin_of_values = "value of ";

bool begins_with(const std::string& text, const std::string& part) {
  return text.compare(0, part.size(), part) == 0;
}

// Both are Mersenne Twisters, as the front end for Python writes them (replay/python/flor/_runtime.py).
// Seeded by chance they begin with 2^31, and stand at their end; the first number that is drawn changes both.
bool is_untouched(const std::string& name, const std::string& state) {
  const std::string_view python_end = ", 624], null]";
  if (name == "python") {
    return begins_with(state, "[3, [2147483648, ") && state.size() > python_end.size() &&
           std::string_view(state).substr(state.size() - python_end.size()) == python_end;
  }
  return name == "numpy" && begins_with(state, "[\"MT19937\", [2147483648, ") &&
         (state.find("], 623, 0, ") != std::string::npos || state.find("], 624, 0, ") != std::string::npos);
}

}  // namespace

std::optional<std::string> drawn_otherwise(const std::string& loop, const GeneratorStates* recorded,
                                           const GeneratorStates& present) {
  std::string drawn, values;
  for (const auto& [name, state] : recorded != nullptr ? *recorded : GeneratorStates{}) {
    const auto here = present.find(name);
    if (here == present.end() || here->second == state) continue;
    if (is_untouched(name, state) && is_untouched(name, here->second)) continue;
    const bool is_value = begins_with(name, begin_of_values);
    std::string& names = is_value ? values : drawn;
    names += (names.empty() ? "" : ", ") + (is_value ? name.substr(begin_of_values.size()) : name);
  }
  if (!drawn.empty())
    return "in front of loop " + loop + " the program drew other random numbers than the recorded one (" +
           drawn + "), so that its data may be others; give every generator a seed";
  if (!values.empty())
    return "in front of loop " + loop + " the program has other values than the recorded one (" + values +
           "), as where it begins with files that an earlier attempt saved";
  return std::nullopt;
}

std::optional<std::string> hashed_otherwise(const std::map<std::string, std::string>& recorded,
                                            const std::map<std::string, std::string>& present) {
  const std::string name = "PYTHONHASHSEED";
  const auto before = recorded.find(name);
  const auto now = present.find(name);
  if (before == recorded.end() || now == present.end()) return std::nullopt;
  if (now->second == "random")
    return name + " is random: the program's sets have another order in each process";
  if (before->second == now->second) return std::nullopt;
  return name + " is " + now->second + " and was " + before->second +
         ", so that its sets may have another order; start it with " + name + "=" + before->second;
}

std::optional<std::string> why_another(const Manifest& manifest, const RecordedLoop& loop,
                                       const GeneratorStates* recorded, const LoopSpec& present,
                                       Frontend& frontend) {
  if (auto why = mismatch_to_resume(loop, present)) return why;
  if (auto why = hashed_otherwise(manifest.preset, frontend.preset())) return why;
  return drawn_otherwise(loop.name, recorded, frontend.generators());
}

}  // namespace flor::core
