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
  for (auto& cell : cells) cell = core::printable(core::shortened(std::move(cell), max_cell));
  rows_.push_back(std::move(cells));
}

std::string Table::text(int indent) const {
  std::vector<std::size_t> widths;
  for (const auto& column : columns_) widths.push_back(column.header.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string cell = i < cells.size() ? cells[i] : std::string();
      const std::string space(widths[i] - cell.size(), ' ');
      if (i > 0) line += "  ";
      line += columns_[i].right ? space + cell : cell + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  std::vector<std::string> header;
  for (const auto& column : columns_) header.push_back(column.header);
  add_line(header);
  for (const auto& row : rows_) add_line(row);
  return out;
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
