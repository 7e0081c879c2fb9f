// Formats aligned ASCII tables, and the numbers in them, for the commands.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"

namespace flor::results {

// Takes the next part of a text that is too long to be held as a whole.
using Write = std::function<void(const std::string& part)>;

// Collects lines until they are worth a part.
class InParts {
 public:
  explicit InParts(Write write) : write_(std::move(write)) {}
  // Call it at the end.
  void flush() {
    if (!part_.empty()) write_(part_);
    part_.clear();
  }
  void add(const std::string& line) {
    part_ += line;
    if (part_.size() >= least) flush();
  }

 private:
  static constexpr std::size_t least = std::size_t{64} << 10;

  const Write write_;
  std::string part_;
};

// Cells of a line that have a text, each with the number of its column; in order.
using Cells = std::vector<std::pair<std::size_t, std::string>>;

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
  // The same for a line most of whose cells are empty, which then take no memory.
  void add_filled(Cells cells);
  bool empty() const { return rows_.empty(); }
  // Returns the table, with `indent` spaces before every line.
  std::string text(int indent = 0) const;
  // The same, some lines at a time: a table of many columns is far longer than what is in its cells.
  void write(const Write& write) const;

 private:
  template <class Each>
  void each_line(std::size_t indent, Each each) const;

  std::vector<Column> columns_;
  std::vector<Cells> rows_;
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
