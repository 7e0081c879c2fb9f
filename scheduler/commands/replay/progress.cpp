#include "commands/replay/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "commands/base/options.h"
#include "core/base/clock.h"
#include "core/base/printable.h"
#include "results/messages.h"

namespace flor::commands {
namespace {

constexpr std::size_t kBar = 24;
constexpr auto kLineEvery = std::chrono::seconds(10);

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

std::string workers_of(const Snapshot& now) {
  std::string text = counted(now.running, "worker");
  if (now.waiting > 0) text += " (" + std::to_string(now.waiting) + " waiting for a place)";
  return text;
}

}  // namespace

std::optional<double> eta(const Snapshot& now) {
  if (now.done >= now.units) return 0;
  if (now.cost_done > 0 && now.elapsed > 0) return (now.cost - now.cost_done) * now.elapsed / now.cost_done;
  if (now.makespan > now.elapsed) return now.makespan - now.elapsed;
  return std::nullopt;
}

std::string progress_line(const Snapshot& now) {
  std::string text = std::to_string(now.done) + " of " + counted(now.units, "unit") + ", " + workers_of(now) +
                     ", " + shown_seconds(now.elapsed);
  if (const auto left = eta(now); left && *left > 0) text += ", about " + shown_seconds(*left) + " left";
  return text;
}

std::string progress_bar(const Snapshot& now, std::size_t width) {
  const std::size_t full = now.units == 0 ? kBar : kBar * std::min(now.done, now.units) / now.units;
  const std::string text =
      "[" + std::string(full, '#') + std::string(kBar - full, '-') + "] " + progress_line(now);
  return text.substr(0, width);
}

core::Json progress_json(const Snapshot& now) {
  const auto left = eta(now);
  return {{"event", "progress"},
          {"done", now.done},
          {"units", now.units},
          {"workers", now.running},
          {"waiting", now.waiting},
          {"seconds", now.elapsed},
          {"eta", left ? core::Json(*left) : core::Json()}};
}

Display::Display(Show what) : what_(what), terminal_(what == Show::text && ::isatty(STDOUT_FILENO) != 0) {}

Display::~Display() {
  end_bar();
}

void Display::end_bar() {
  if (drawn_) std::cout << "\n" << std::flush;
  drawn_ = false;
  bar_.clear();
}

void Display::say(const std::string& text) {
  if (kept_in_) results::keep_message(*kept_in_, {core::wall_seconds(), false, text});
  print_lines(text);
}

void Display::say_failure(const std::string& text) {
  keep_failure(text);
  print_lines(text);
}

void Display::keep_failure(const std::string& text) const {
  if (kept_in_) results::keep_message(*kept_in_, {core::wall_seconds(), true, text});
}

void Display::print_lines(const std::string& text) {
  if (what_ == Show::nothing) return;
  end_bar();
  (what_ == Show::json ? std::cerr : std::cout) << core::printable_lines(text) << "\n" << std::flush;
}

void Display::event(const core::Json& event) {
  if (what_ == Show::json) std::cout << core::printable(core::json_text(event)) << "\n" << std::flush;
}

void Display::show(const Snapshot& now) {
  if (what_ == Show::nothing) return;
  const bool news =
      !seen_ || seen_->done != now.done || seen_->running != now.running || seen_->waiting != now.waiting;
  if (news) event(progress_json(now));
  seen_ = now;
  if (!terminal_) {
    show_line(now);
    return;
  }
  std::string bar = progress_bar(now, terminal_width() - 1);
  if (bar == bar_) return;
  std::cout << "\r" << bar << "\033[K" << std::flush;
  bar_ = std::move(bar);
  drawn_ = true;
}

void Display::show_line(const Snapshot& now) {
  const auto time = std::chrono::steady_clock::now();
  const auto tenth = [](const Snapshot& at) { return at.units == 0 ? 0 : at.done * 10 / at.units; };
  const bool further = told_ && tenth(*told_) != tenth(now);
  const bool late = told_ && time - when_ >= kLineEvery;
  if (told_ && !further && !late && now.done < now.units) return;
  if (told_ && told_->done == now.done && now.done == now.units) return;
  told_ = now;
  when_ = time;
  (what_ == Show::json ? std::cerr : std::cout) << progress_line(now) << "\n" << std::flush;
}

}  // namespace flor::commands
