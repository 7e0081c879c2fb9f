#include "dashboard/http/feed.h"

#include <limits>

#include "core/base/parse_number.h"
#include "core/store/store.h"

namespace flor::dashboard {
namespace {

constexpr std::size_t most_deltas = 256;
// Bytes of all of them. A user of the store may change thousands of runs at once, again and again.
constexpr std::size_t most_delta_bytes = std::size_t{8} << 20;
constexpr std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();

std::string event(const std::string& kind, const std::string& id, const std::string& data) {
  return "event: " + kind + "\nid: " + id + "\ndata: " + data + "\n\n";
}

}  // namespace

std::string Feed::new_birth() {
  return core::new_id();
}

void Feed::publish(std::string snapshot, std::string delta) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    snapshot_ = std::make_shared<const std::string>(std::move(snapshot));
    bytes_ += delta.size();
    deltas_.push_back(std::move(delta));
    while (deltas_.size() > most_deltas || bytes_ > most_delta_bytes) {
      bytes_ -= deltas_.front().size();
      deltas_.pop_front();
    }
    number_ += 1;
  }
  if (notify_) notify_();
}

std::shared_ptr<const std::string> Feed::snapshot() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return snapshot_;
}

bool Feed::was_asked_within(std::chrono::steady_clock::duration time) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return asked_ && std::chrono::steady_clock::now() - *asked_ < time;
}

Feed::Events Feed::since(const std::string& last_id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  asked_ = std::chrono::steady_clock::now();
  const auto dash = last_id.rfind('-');
  std::uint64_t seen = unknown;
  if (dash != std::string::npos && last_id.substr(0, dash) == birth_)
    seen = core::parse_number<std::uint64_t>(last_id.substr(dash + 1)).value_or(unknown);
  if (seen == number_) return {"", last_id};
  Events out{"", id_of(number_)};
  if (seen > number_ || number_ - seen > deltas_.size()) {
    out.text = event("snapshot", out.last_id, *snapshot_);
    return out;
  }
  for (std::uint64_t number = seen + 1; number <= number_; ++number)
    out.text += event("change", id_of(number), deltas_[deltas_.size() - (number_ - number) - 1]);
  return out;
}

}  // namespace flor::dashboard
