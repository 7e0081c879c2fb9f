#include "core/recording/policy_settings.h"

#include <string>

#include "core/base/units_text.h"
#include "core/config/setting_value.h"
#include "core/config/values.h"

namespace flor::core {

void set_policy(const Settings& settings, Manifest& m, bool resumed) {
  const auto value = [&](const std::string& key, const char* what, auto parse) {
    return setting_value(resumed ? Settings::asked(key) : settings.get(key), key, what, parse);
  };
  m.epsilon = value("epsilon", what_epsilon_is, epsilon_from).value_or(m.epsilon);
  m.every = value("every", what_every_is, every_from).value_or(m.every);
  m.keep = value("keep", what_keep_is, keep_from).value_or(m.keep);
  m.materializer = value("materializer", what_materializer_is, materializer_from).value_or(m.materializer);
  if (const auto mtbf = value("mtbf", what_mtbf_is, parse_duration)) m.mtbf = mtbf;
  const auto step = value("step_seconds", "a number of seconds, 0 or more", seconds_from);
  if (step) m.step_seconds = step;
}

}  // namespace flor::core
