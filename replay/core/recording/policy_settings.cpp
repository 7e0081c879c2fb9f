#include "core/recording/policy_settings.h"

#include <string>

#include "core/base/units_text.h"
#include "core/config/setting_value.h"
#include "core/config/values.h"

namespace flor::core {

void set_policy(const Settings& settings, Manifest& m, bool resumed) {
  const auto value = [&](const std::string& key, auto parse) {
    return setting_value(resumed ? Settings::asked(key) : settings.get(key), key, parse);
  };
  m.epsilon = value("epsilon", epsilon_from).value_or(m.epsilon);
  m.every = value("every", every_from).value_or(m.every);
  m.keep = value("keep", keep_from).value_or(m.keep);
  m.materializer = value("materializer", materializer_from).value_or(m.materializer);
  if (const auto mtbf = value("mtbf", parse_duration)) m.mtbf = mtbf;
  const auto step = value("step_seconds", seconds_from);
  if (step) m.step_seconds = step;
}

}  // namespace flor::core
