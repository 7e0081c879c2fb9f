#include "commands/log/foreign_share.h"

#include "commands/base/output.h"
#include "core/base/error.h"
#include "core/base/units_text.h"
#include "core/files/trusted_file.h"

namespace flor::commands {
namespace {

// A line of a table is as long as there are columns. So many loops and other names, of rows and of arguments,
// may one run bring, and all of them together.
constexpr std::size_t most_loops_of_one = 50, most_names_of_one = 200;
constexpr std::size_t most_loops_together = 200, most_names_together = 500;
// What the rows that are kept may take in memory.
constexpr std::size_t most_row_bytes = std::size_t{256} << 20;

std::size_t bytes_kept(const ChosenRun& run) {
  std::size_t out = 0;
  for (const auto& row : run.rows) out += sizeof row + row.at.size() + row.name.size() + row.text.size();
  for (const auto& name : run.logged) out += sizeof name + name.size();
  return out;
}

void require_few(bool fits, const char* what, std::size_t most) {
  if (!fits)
    throw core::Error("it is another user's, and would bring more than " + std::to_string(most) + " " + what +
                      " to the table: ask for names, or name the run");
}

}  // namespace

void ForeignShare::take(const ChosenRun& run, const std::set<std::string>& arguments) {
  std::set<std::string> loops, names = arguments;
  for (const auto& row : run.rows) {
    names.insert(row.name);
    for (const auto& [loop, value] : results::scope_loops(row.at)) loops.insert(loop);
    require_few(loops.size() <= most_loops_of_one, "loops", most_loops_of_one);
    require_few(names.size() <= most_names_of_one, "names", most_names_of_one);
  }
  require_few(names.size() <= most_names_of_one, "names", most_names_of_one);
  loops.insert(loops_.begin(), loops_.end());
  names.insert(names_.begin(), names_.end());
  const std::size_t bytes = bytes_ + bytes_kept(run);
  if (loops.size() > most_loops_together || names.size() > most_names_together || bytes > most_row_bytes)
    throw results::ForeignRows::UsedUp("no more of other users' runs is shown at once");
  loops_ = std::move(loops);
  names_ = std::move(names);
  bytes_ = bytes;
}

void ForeignShare::tell() const {
  if (left_out_ == 0) return;
  print_error("warning: " + core::counted(left_out_, "run") + " of other users " +
              (left_out_ == 1 ? "is" : "are") +
              " left out: of such runs, where they are not named, no more than " +
              core::bytes_text(core::foreign_rows_together) + " of rows are read at once, and " +
              std::to_string(most_loops_together) + " loops and " + std::to_string(most_names_together) +
              " names shown");
}

}  // namespace flor::commands
