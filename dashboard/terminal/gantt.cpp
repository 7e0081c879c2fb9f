#include "dashboard/terminal/gantt.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/base/printable.h"
#include "core/base/units_text.h"
#include "dashboard/terminal/letters.h"

namespace flor::dashboard {
namespace {

using core::Json;

enum Kind { unit, restore, running, lost, kinds };
using Cell = std::array<double, kinds>;

const char* letter(int kind, bool is_utf8) {
  static constexpr std::array<const char*, kinds> blocks{"█", "▓", "░", "×"};
  static constexpr std::array<const char*, kinds> ascii{"#", "r", "-", "x"};
  return (is_utf8 ? blocks : ascii).at(static_cast<std::size_t>(kind));
}

// One execution of a unit, as [unit, began, seconds, restore, given up].
struct Execution {
  explicit Execution(const Json& row, double now) : began(row.at(1)), restored(row.at(3)) {
    is_done = row.at(2).is_number();
    is_lost = row.at(4).is_number();
    end = is_done ? began + row.at(2).get<double>() : is_lost ? row.at(4).get<double>() : now;
  }
  double began, restored, end;
  bool is_done, is_lost;
};

struct Span {
  double begin = std::numeric_limits<double>::infinity(), end = 0;
};

Span span_of(const Json& workers, double now) {
  Span out;
  for (const auto& worker : workers) {
    for (const auto& row : worker.at("units")) {
      const Execution one(row, now);
      out.begin = std::min(out.begin, one.began);
      out.end = std::max(out.end, one.end);
    }
  }
  return out;
}

// The cells of one worker: how many seconds of each kind lie in each.
class Line {
 public:
  Line(const Span& span, std::size_t width)
      : begin_(span.begin), cell_((span.end - span.begin) / static_cast<double>(width)), cells_(width) {}

  void add(Kind kind, double from, double to) {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const double left = begin_ + cell_ * static_cast<double>(i);
      const double inside = std::min(to, left + cell_) - std::max(from, left);
      if (inside > 0) cells_[i].at(kind) += inside;
    }
  }

  // A cell shows what took most of its time; a dot, that nothing took half of it.
  std::string text(bool is_utf8) const {
    std::string out;
    for (const auto& cell : cells_) {
      double sum = 0;
      for (const double part : cell) sum += part;
      const auto most = std::max_element(cell.begin(), cell.end()) - cell.begin();
      out += sum <= 0          ? " "
             : sum < cell_ / 2 ? (is_utf8 ? "·" : ".")
                               : letter(static_cast<int>(most), is_utf8);
    }
    return out;
  }

 private:
  double begin_, cell_;
  std::vector<Cell> cells_;
};

}  // namespace

std::vector<std::string> gantt_lines(const Json& work, std::size_t label, std::size_t width, std::size_t most,
                                     bool is_utf8) {
  const Json& workers = work.at("workers");
  const double now = work.at("now").is_number() ? work.at("now").get<double>() : 0;
  const Span span = span_of(workers, now);
  std::vector<std::string> out;
  if (span.end <= span.begin) return out;
  for (const auto& worker : workers) {
    if (out.size() == most) break;
    Line line(span, width);
    for (const auto& row : worker.at("units")) {
      const Execution one(row, now);
      line.add(restore, one.began, std::min(one.began + one.restored, one.end));
      line.add(one.is_done ? unit : one.is_lost ? lost : running, one.began + one.restored, one.end);
    }
    out.push_back(padded(core::printable(worker.at("worker").get<std::string>()), label) + " " +
                  line.text(is_utf8));
  }
  if (out.size() < workers.size())
    out.push_back("and " + core::counted(workers.size() - out.size(), "more worker"));
  return out;
}

std::string gantt_key(bool is_utf8) {
  return std::string(letter(unit, is_utf8)) + " units, " + letter(restore, is_utf8) + " restores, " +
         letter(running, is_utf8) + " running, " + letter(lost, is_utf8) + " interrupted";
}

}  // namespace flor::dashboard
