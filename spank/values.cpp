#include "values.h"

#include "core/config/values.h"

namespace flor::spank {
namespace {

Problem check_store_name(const std::string& value) {
  if (!value.empty() && (value[0] == '/' || value == "~" || value.rfind("~/", 0) == 0)) return "";
  // A relative path is not clear: srun, the batch script and the task may run in three different directories.
  return "not an absolute path; give the whole path of a directory that all nodes see";
}

}  // namespace

Problem check_value(const std::string& key, const std::string& value) {
  if (key == "store") return check_store_name(value);
  const core::SettingForm& form = core::setting_form(key);
  return form.fits(value) ? "" : std::string("not ") + form.what;
}

}  // namespace flor::spank
