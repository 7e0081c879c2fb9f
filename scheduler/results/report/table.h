// Aligned tables for people, in ASCII, and the numbers in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace flor::results {

// A table with a header line. Columns are as wide as their widest cell; there is no white space at line ends.
class Table {
 public:
  struct Column {
    std::string header;
    bool right = false;  // aligned: numbers
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> cells);  // shown as printable text (core/base/printable.h)
  bool empty() const { return rows_.empty(); }
  // `indent` spaces in front of every line.
  std::string text(int indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Six significant digits; an integral value keeps a ".0", so that it does not look like an integer.
std::string short_number(double value);
// A JSON value in at most 40 characters: short numbers, strings without control characters, tensors cut.
std::string short_value(const core::Json& value);

std::string cost_text(double seconds);  // "0.84 ms", "12.3 ms", "5.41 s"
std::string time_text(double seconds);  // since the epoch of Unix: "2026-11-20 14:30:05" in UTC

}  // namespace flor::results
