#include "dashboard/terminal/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace flor::dashboard {
namespace {

// Another screen, no cursor; and back (xterm's control sequences, which tmux and screen know as well).
constexpr const char* enter = "\x1b[?1049h\x1b[?25l";
constexpr const char* leave = "\x1b[?25h\x1b[?1049l";

void write_all(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data() + at, text.size() - at);
    if (written <= 0) return;  // the terminal is gone; a read says so, too
    at += static_cast<std::size_t>(written);
  }
}

// Is a byte there now?
bool has_byte() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) > 0;
}

std::optional<char> next_byte() {
  char byte = 0;
  if (::read(STDIN_FILENO, &byte, 1) <= 0) return std::nullopt;
  return byte;
}

// Reads what an arrow or the like sends behind ESC, and no byte of the key behind it: "O" and one byte, "["
// and all up to a letter or "~", or else one byte (ECMA-48 5.4; xterm's SS3).
void skip_sequence() {
  const std::optional<char> kind = next_byte();
  if (kind == 'O' && has_byte()) next_byte();
  if (kind != '[') return;
  while (has_byte()) {
    const std::optional<char> byte = next_byte();
    if (!byte || (*byte >= '@' && *byte <= '~')) return;
  }
}

}  // namespace

bool Terminal::is_one() {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

bool Terminal::is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string text = value;
    return text.find("UTF-8") != std::string::npos || text.find("utf8") != std::string::npos;
  }
  return false;
}

Terminal::Terminal() {
  ::tcgetattr(STDIN_FILENO, &before_);
  termios now = before_;
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
  write_all(enter);
}

Terminal::~Terminal() {
  write_all(leave);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

std::pair<std::size_t, std::size_t> Terminal::size() const {
  winsize now{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &now) != 0 || now.ws_col == 0 || now.ws_row == 0) return {80, 24};
  return {now.ws_col, now.ws_row};
}

void Terminal::show(const std::vector<std::string>& lines) {
  const auto now = size();
  std::string out;
  if (now != shown_size_) {
    out += "\x1b[2J";
    shown_.clear();
    shown_size_ = now;
  }
  for (std::size_t i = 0; i < std::max(lines.size(), shown_.size()); ++i) {
    const std::string line = i < lines.size() ? lines[i] : "";
    if (i < shown_.size() && shown_[i] == line) continue;
    out += "\x1b[" + std::to_string(i + 1) + ";1H\x1b[K" + line;
  }
  shown_ = lines;
  write_all(out);
}

std::optional<char> Terminal::key(std::chrono::milliseconds most, int wake) const {
  std::array<pollfd, 2> ready{{{STDIN_FILENO, POLLIN, 0}, {wake, POLLIN, 0}}};
  if (::poll(ready.data(), ready.size(), static_cast<int>(most.count())) <= 0 || ready[0].revents == 0)
    return std::nullopt;
  const std::optional<char> key = next_byte();
  if (!key) return '\0';
  if (*key != '\x1b' || !has_byte()) return key;
  skip_sequence();
  return std::nullopt;
}

}  // namespace flor::dashboard
