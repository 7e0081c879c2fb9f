// What viewers see live: a snapshot, and the changes since. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace flor::dashboard {

// Texts are JSON of one line each. Numbers of changes begin at 1.
class Feed {
 public:
  // Called after each change, on the thread that publishes. Set it before the first change.
  void on_change(std::function<void()> notify) { notify_ = std::move(notify); }

  // Publishes a change: `delta` turns the snapshot before into `snapshot`.
  void publish(std::string snapshot, std::string delta);

  // Returns whether since() was called within this time: somebody looks. It is called at least at each ping
  // (ServerOptions) of a viewer.
  bool was_asked_within(std::chrono::steady_clock::duration time) const;

  // Returns the snapshot that was published last; `{}` before the first one. It is for a monitor, which asks
  // day and night, and does not count as a viewer.
  std::shared_ptr<const std::string> snapshot() const;

  struct Events {
    // In the format of server-sent events; empty where nothing is new.
    std::string text;
    std::string last_id;
  };
  // Returns what a viewer lacks who has seen `last_id`: the changes since, or the snapshot where they are no
  // longer known, or where the id is another server's.
  Events since(const std::string& last_id) const;

 private:
  std::string id_of(std::uint64_t number) const { return birth_ + "-" + std::to_string(number); }

  // Tells the ids of this server from those of one that ran before.
  const std::string birth_ = new_birth();
  static std::string new_birth();

  std::function<void()> notify_;
  mutable std::mutex mutex_;
  mutable std::optional<std::chrono::steady_clock::time_point> asked_;
  std::shared_ptr<const std::string> snapshot_ = std::make_shared<const std::string>("{}");
  // The last ones, as far as memory allows; the newest has the number number_.
  std::deque<std::string> deltas_;
  // Of all deltas.
  std::size_t bytes_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace flor::dashboard
