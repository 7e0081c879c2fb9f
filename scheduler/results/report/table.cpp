#include "results/report/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "core/base/printable.h"

namespace flor::results {
namespace {

constexpr std::size_t max_value = 40;
// A line is as wide as its widest cells, and another user may have written one.
constexpr std::size_t max_cell = 1024;

template <class... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, values...);
  return buffer.data();
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  Cells filled;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!cells[i].empty()) filled.emplace_back(i, std::move(cells[i]));
  }
  add_filled(std::move(filled));
}

void Table::add_filled(Cells cells) {
  for (auto& [column, text] : cells) text = core::printable(core::shortened(std::move(text), max_cell));
  rows_.push_back(std::move(cells));
}

template <class Each>
void Table::each_line(std::size_t indent, Each each) const {
  std::vector<std::size_t> widths;
  Cells header;
  for (const auto& column : columns_) {
    header.emplace_back(widths.size(), column.header);
    widths.push_back(column.header.size());
  }
  for (const auto& row : rows_) {
    for (const auto& [column, text] : row) widths[column] = std::max(widths[column], text.size());
  }
  std::vector<std::size_t> begins;
  std::size_t begin = indent;
  for (const std::size_t width : widths) {
    begins.push_back(begin);
    begin += width + 2;
  }
  const auto line_of = [&](const Cells& cells) {
    std::string line(indent, ' ');
    for (const auto& [column, text] : cells) {
      const std::size_t space = columns_[column].right ? widths[column] - text.size() : 0;
      line.resize(begins[column] + space, ' ');
      line += text;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + '\n';
  };
  each(line_of(header));
  for (const auto& row : rows_) each(line_of(row));
}

std::string Table::text(int indent) const {
  std::string out;
  each_line(static_cast<std::size_t>(indent), [&out](const std::string& line) { out += line; });
  return out;
}

void Table::write(const Write& write) const {
  InParts parts(write);
  each_line(0, [&parts](const std::string& line) { parts.add(line); });
  parts.flush();
}

std::string short_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  std::string text = formatted("%.6g", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string short_value(const core::Json& value) {
  if (value.is_number_float()) return short_number(value.get<double>());
  if (value.is_string()) return core::shortened(core::printable(value.get<std::string>()), max_value);
  return core::shortened(core::json_text(value), max_value);
}

std::string cost_text(double seconds) {
  const bool small = std::abs(seconds) < 1;
  const double value = small ? seconds * 1000 : seconds;
  return formatted(std::abs(value) < 9.995 ? "%.2f " : "%.1f ", value) + (small ? "ms" : "s");
}

std::string time_text(double seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm utc{};
  std::array<char, 32> buffer{};
  if (::gmtime_r(&time, &utc) == nullptr) return "";
  std::strftime(buffer.data(), buffer.size(), "%Y-%m-%d %H:%M:%S", &utc);
  return buffer.data();
}

}  // namespace flor::results
