#include "dashboard/data/replays.h"

#include <malloc.h>

#include <algorithm>

#include "commands/replay/show_replay.h"
#include "core/files/json_lines.h"
#include "dashboard/data/signature.h"

namespace flor::dashboard {
namespace {

constexpr std::size_t most_replays = 8;
// Bytes of all texts, in multiples of a text that is kept with its values.
constexpr std::size_t most_texts = 4;
// Of a replay. A viewer looks again about as often as a text is made.
constexpr std::size_t most_versions = 8;
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

ReplayCache::Made* ReplayCache::kept(const std::string& key, const core::RunDir& run) {
  const auto known = made_.find(key);
  if (known == made_.end()) return nullptr;
  Made& made = known->second;
  if (now_() - made.at >= std::max(stays, stays_by * made.seconds)) return nullptr;
  // Units of a replay that goes on may come faster than a text is made. Its viewers look again.
  return made.goes_on || made.signature == signature_of(run) ? &made : nullptr;
}

ReplayCache::Made& ReplayCache::make(const std::string& key, const core::RunDir& run, const std::string& id) {
  const double begin = now_();
  std::string signature = signature_of(run);
  core::Json data = replay_data(run, id);
  data["version"] = birth_ + "-" + std::to_string(++number_);
  Made& made = made_[key];
  made.signature = std::move(signature);
  made.goes_on = !data["work"]["now"].is_null();
  made.texts.clear();
  auto& text = made.texts[""] = std::make_shared<const std::string>(core::json_text(data));
  if (text->size() > largest_) {
    made.data = nullptr;
    made.versions.clear();
  } else {
    made.versions.push_back({data["version"], seen_of(data["work"])});
    if (made.versions.size() > most_versions) made.versions.pop_front();
    made.data = std::move(data);
  }
  made.at = now_();
  made.seconds = made.at - begin;
  const std::lock_guard<std::mutex> last(last_mutex_);
  last_at_ = made.at;
  last_seconds_ = made.seconds;
  return made;
}

std::shared_ptr<const std::string> ReplayCache::text_for(Made& made, const std::string& have) {
  const auto version = std::find_if(made.versions.begin(), made.versions.end(),
                                    [&have](const Version& one) { return one.name == have; });
  if (version == made.versions.end()) return made.texts.at("");
  auto& text = made.texts[have];
  if (text == nullptr)
    text = std::make_shared<const std::string>(core::json_text(rest_of(made.data, version->seen)));
  return text;
}

void ReplayCache::forget_oldest() {
  const auto bytes = [this] {
    std::size_t out = 0;
    for (const auto& [key, made] : made_) {
      for (const auto& [have, text] : made.texts) out += text->size();
    }
    return out;
  };
  while (made_.size() > 1 && (made_.size() > most_replays || bytes() > most_texts * largest_)) {
    made_.erase(std::min_element(made_.begin(), made_.end(),
                                 [](const auto& a, const auto& b) { return a.second.at < b.second.at; }));
  }
}

std::shared_ptr<const std::string> ReplayCache::text_of(const core::RunDir& run, const std::string& id,
                                                        const std::string& have) {
  const std::lock_guard<std::mutex> lock(making_);
  const std::string key = run.id() + "/" + id;
  Made* made = kept(key, run);
  if (made == nullptr) {
    made = &make(key, run, id);
    if (made->data.is_null()) ::malloc_trim(0);  // else the pages of its values stay with the process
  }
  auto text = text_for(*made, have);
  forget_oldest();
  return text;
}

double ReplayCache::seconds() const {
  const std::lock_guard<std::mutex> lock(last_mutex_);
  return now_() - last_at_ < is_long_ago ? last_seconds_ : 0;
}

}  // namespace flor::dashboard
