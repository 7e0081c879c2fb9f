// The terminal while `flor watch` draws on it.
#pragma once

#include <termios.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace flor::dashboard {

// Gives keys at once and without echo, on a screen of its own. The destructor brings back what was there.
// One at a time; stdin and stdout must be a terminal.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  static bool is_one();
  // Does the locale of the environment say UTF-8?
  static bool is_utf8();

  // Returns width and height now.
  std::pair<std::size_t, std::size_t> size() const;
  // Shows these lines, the first at the top. Writes only what differs from what is there.
  void show(const std::vector<std::string>& lines);
  // Returns a key, or std::nullopt where none comes in this time, where `wake` becomes readable, or where a
  // signal comes. Keys that send several bytes, such as arrows, are left out. '\0': no key will ever come.
  std::optional<char> key(std::chrono::milliseconds most, int wake) const;

 private:
  termios before_{};
  std::vector<std::string> shown_;
  std::pair<std::size_t, std::size_t> shown_size_;
};

}  // namespace flor::dashboard
