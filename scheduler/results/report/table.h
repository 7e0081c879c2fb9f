// Formats aligned ASCII tables, and the numbers in them, for the commands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace flor::results {

// A table with a header line. Columns are as wide as their widest cell. Lines have no trailing white space.
class Table {
 public:
  struct Column {
    std::string header;
    // Right-aligned, for numbers.
    bool right = false;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Adds a line. Makes its cells printable (core/base/printable.h), and cuts those of more than 1 KiB.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // Returns the table, with `indent` spaces before every line.
  std::string text(int indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Returns six significant digits. A whole number gets ".0", so that it does not look like an integer.
std::string short_number(double value);
// Returns a JSON value in at most 40 characters: short numbers, strings without control characters, tensors
// cut.
std::string short_value(const core::Json& value);

// Returns "0.84 ms", "12.3 ms" or "5.41 s".
std::string cost_text(double seconds);
// Returns "2026-11-20 14:30:05" in UTC. `seconds`: since the Unix epoch.
std::string time_text(double seconds);

}  // namespace flor::results
