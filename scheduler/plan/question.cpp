#include "plan/question.h"

#include "core/base/digest.h"
#include "core/base/json.h"

namespace flor::plan {

std::string digest_of(const Question& question) {
  const core::Json json{{"run", question.run},
                        {"attempt", question.attempt},
                        {"program", question.program},
                        {"command", question.command},
                        {"selected", question.selected.ranges()},
                        {"inner", question.inner},
                        {"execute_all", question.execute_all},
                        {"execute", question.execute},
                        {"any_device", question.any_device},
                        {"complete", question.complete},
                        {"lead_in_all", question.lead_in_all},
                        {"lead_in", question.lead_in}};
  return core::digest_of(core::json_text(json));
}

std::string recipe_of(Question question) {
  question.selected = {};
  return digest_of(question);
}

}  // namespace flor::plan
