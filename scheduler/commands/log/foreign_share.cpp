#include "commands/log/foreign_share.h"

#include "commands/base/output.h"
#include "core/base/error.h"
#include "core/base/json_values.h"
#include "core/base/units_text.h"
#include "core/files/shared_directory.h"
#include "core/files/trusted_file.h"

namespace flor::commands {
namespace {

// A line of a table is as long as there are columns. So many loops and other names, of rows and of arguments,
// may one run bring, and all of them together.
constexpr std::size_t most_loops_of_one = 50, most_names_of_one = 200;
constexpr std::size_t most_loops_together = 200, most_names_together = 500;
// What the rows that are kept may take in memory.
constexpr std::size_t most_row_bytes = std::size_t{256} << 20;
// What a value in a list takes, with the room that the list has for more.
constexpr std::size_t bytes_of_value = 32;

std::size_t bytes_kept(const ChosenRun& run) {
  std::size_t out = 0;
  for (const auto& row : run.rows) {
    out += sizeof row + row.at.size() + row.name.size() + row.text.size();
    if (row.value.is_structured()) out += core::values_in(row.text) * bytes_of_value;
  }
  for (const auto& name : run.logged) out += sizeof(std::string) + name.size();
  return out;
}

template <class Taken>
Taken both(Taken a, const Taken& b) {
  a.loops.insert(b.loops.begin(), b.loops.end());
  a.names.insert(b.names.begin(), b.names.end());
  a.bytes += b.bytes;
  return a;
}

// `part`: 2 for half of what all together may take.
template <class Taken>
bool fits(const Taken& taken, std::size_t part) {
  return taken.loops.size() <= most_loops_together / part &&
         taken.names.size() <= most_names_together / part && taken.bytes <= most_row_bytes / part;
}

void require_few(bool fits, const char* what, std::size_t most) {
  if (!fits)
    throw core::Error("it is another user's, and would bring more than " + std::to_string(most) + " " + what +
                      " to the table: ask for names, or name the run");
}

}  // namespace

void ForeignShare::take(const ChosenRun& run, const std::set<std::string>& arguments) {
  Taken one{{}, arguments, bytes_kept(run)};
  for (const auto& row : run.rows) {
    one.names.insert(row.name);
    for (const auto& [loop, value] : results::scope_loops(row.at)) one.loops.insert(loop);
    require_few(one.loops.size() <= most_loops_of_one, "loops", most_loops_of_one);
    require_few(one.names.size() <= most_names_of_one, "names", most_names_of_one);
  }
  require_few(one.names.size() <= most_names_of_one, "names", most_names_of_one);
  Taken& of_its_owner = of_[core::directory_owner(run.run.path)];
  const Taken all = both(all_, one), of_owner = both(of_its_owner, one);
  if (!fits(all, 1) || !fits(of_owner, 2))
    throw results::ForeignRows::UsedUp("no more of other users' runs is shown at once");
  all_ = all;
  of_its_owner = of_owner;
}

void ForeignShare::tell() const {
  if (left_out_ == 0) return;
  print_error("warning: " + core::counted(left_out_, "run") + " of other users " +
              (left_out_ == 1 ? "is" : "are") +
              " left out: of such runs, where they are not named, no more than " +
              core::bytes_text(core::foreign_rows_together) + " of rows are read at once, and " +
              std::to_string(most_loops_together) + " loops and " + std::to_string(most_names_together) +
              " names shown, half of it of one user");
}

}  // namespace flor::commands
