#include "dashboard/data/replays.h"

#include <algorithm>

#include "commands/replay/show_replay.h"
#include "core/files/json_lines.h"
#include "dashboard/data/signature.h"

namespace flor::dashboard {
namespace {

constexpr std::size_t most_replays = 8;
// Seconds for which a text stays as it is, at least, and in multiples of the time that it took to make.
constexpr double stays = 1, stays_by = 4;
// Seconds after which the making of a text no longer counts.
constexpr double is_long_ago = 5;

}  // namespace

core::Json replay_data(const core::RunDir& run, const std::string& id) {
  core::Json out = commands::replay_json(run, id);
  core::Json& plan = out["plan"];
  plan["planned"] = plan["units"].size();
  plan.erase("units");
  plan.erase("segments");
  return out;
}

std::shared_ptr<const std::string> ReplayCache::text_of(const core::RunDir& run, const std::string& id) {
  const std::lock_guard<std::mutex> lock(making_);
  const std::string key = run.id() + "/" + id;
  const double now = now_();
  const auto known = made_.find(key);
  const bool stays_as_it_is =
      known != made_.end() && now - known->second.at < std::max(stays, stays_by * known->second.seconds);
  // Units of a replay that goes on may come faster than a text is made. Its viewers look again.
  if (stays_as_it_is && known->second.goes_on) return known->second.text;
  std::string signature = signature_of(run);
  if (stays_as_it_is && known->second.signature == signature) return known->second.text;
  const core::Json data = replay_data(run, id);
  auto text = std::make_shared<const std::string>(core::json_text(data));
  const double end = now_();
  made_[key] = {std::move(signature), text, end, end - now, !data["work"]["now"].is_null()};
  if (made_.size() > most_replays) {
    made_.erase(std::min_element(made_.begin(), made_.end(),
                                 [](const auto& a, const auto& b) { return a.second.at < b.second.at; }));
  }
  const std::lock_guard<std::mutex> last(last_mutex_);
  last_at_ = end;
  last_seconds_ = end - now;
  return text;
}

double ReplayCache::seconds() const {
  const std::lock_guard<std::mutex> lock(last_mutex_);
  return now_() - last_at_ < is_long_ago ? last_seconds_ : 0;
}

}  // namespace flor::dashboard
