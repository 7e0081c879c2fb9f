#include "results/report/csv.h"

namespace flor::results {

static std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string csv_value(const core::Json& value) {
  return value.is_string() ? value.get<std::string>() : core::json_text(value);
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out += ',';
    out += csv_cell(cells[i]);
  }
  return out + '\n';
}

std::string csv_line(const Cells& cells, std::size_t columns) {
  std::string out;
  std::size_t here = 0;
  for (const auto& [column, text] : cells) {
    out.append(column - here, ',');
    out += csv_cell(text);
    here = column;
  }
  if (columns > 0) out.append(columns - 1 - here, ',');
  return out + '\n';
}

}  // namespace flor::results
