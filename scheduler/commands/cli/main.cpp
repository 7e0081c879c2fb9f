// The program flor: records training runs, replays them in parallel, and shows what they logged.
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "commands/cli/commands.h"
#include "core/base/error.h"
#include "core/base/printable.h"

namespace {

using flor::commands::Outcome;

// Makes one printable line of a message, which may quote the text of a program or a server.
std::string one_line(std::string text) {
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return flor::core::printable(text);
}

bool is_command(const CLI::App& app, const std::string& word) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  return std::any_of(commands.begin(), commands.end(),
                     [&](const CLI::App* one) { return one->get_name() == word; });
}

bool takes_program(const std::string& command) {
  return command == "record" || command == "replay" || command == "prepare" || command == "check" ||
         command == "probes";
}

// Refuses empty values.
// Motivation: with a shell variable that is not set, `flor gc --older-than "$AGE"` would look like a command
// without this flag, and remove new runs as well.
void refuse_empty(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool flag_alone = word.rfind("--", 0) == 0 && word.find('=') == word.size() - 1;
    if (!word.empty() && !flag_alone) continue;
    const std::string where = flag_alone ? word.substr(0, word.size() - 1) : i > 0 ? words[i - 1] : "flor";
    throw flor::core::UsageError("the value behind " + where +
                                 " is empty (a variable of the shell that is not set?); give one");
  }
}

int parse_and_run(CLI::App& app, Outcome& outcome, int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const auto mark = std::find(words.begin(), words.end(), "--");
  if (mark != words.end()) {
    outcome.program.assign(mark + 1, words.end());
    words.erase(mark, words.end());
  }
  if (!outcome.program.empty() && !words.empty() && !takes_program(words.front())) {
    throw flor::core::UsageError("flor " + words.front() + " takes no program behind --");
  }
  if (!words.empty() && words.front().rfind('-', 0) != 0 && !is_command(app, words.front())) {
    throw flor::core::UsageError("there is no command '" + words.front() + "'; flor --help lists them");
  }
  refuse_empty(words);
  std::reverse(words.begin(), words.end());  // the order that CLI11 expects
  app.parse(words);
  return outcome.code;
}

std::string help_of(const CLI::App& app) {
  const auto asked = app.get_subcommands();
  return " (see flor " + (asked.empty() ? "" : asked.front()->get_name() + " ") + "--help)\n";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Record a LibTorch training run; replay it in parallel, with log statements added later.",
               "flor"};
  app.require_subcommand(1);
  app.set_version_flag("--version", FLOR_VERSION);
  Outcome outcome;
  flor::commands::add_record(app, outcome);
  flor::commands::add_replay(app, outcome);
  flor::commands::add_prepare(app, outcome);
  flor::commands::add_prove(app, outcome);
  flor::commands::add_collect(app, outcome);
  flor::commands::add_probes(app, outcome);
  flor::commands::add_unheld(app, outcome);
  flor::commands::add_runs(app, outcome);
  flor::commands::add_show(app, outcome);
  flor::commands::add_log(app, outcome);
  flor::commands::add_sql(app, outcome);
  flor::commands::add_serve(app, outcome);
  flor::commands::add_report(app, outcome);
  flor::commands::add_watch(app, outcome);
  flor::commands::add_check(app, outcome);
  flor::commands::add_export(app, outcome);
  flor::commands::add_gc(app, outcome);
  flor::commands::add_unlock(app, outcome);
  flor::commands::add_admin(app, outcome);
  // After the commands, which would take it over.
  app.footer(
      "Begin with: flor record -- ./train, then flor runs, then flor replay RUN -- "
      "./train_with_more_logging");
  try {
    return parse_and_run(app, outcome, argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ExtrasError&) {  // CLI11's own text has the words in another order
    std::cerr << "flor: not expected: " << one_line(CLI::detail::join(app.remaining(true), " "))
              << help_of(app);
    return flor::commands::kUsage;
  } catch (const CLI::ParseError& problem) {
    std::cerr << "flor: " << one_line(problem.what()) << help_of(app);
    return flor::commands::kUsage;
  } catch (const flor::core::UsageError& problem) {
    std::cerr << "flor: " << one_line(problem.what()) << "\n";
    return flor::commands::kUsage;
  } catch (const std::exception& problem) {
    std::cerr << "flor: " << one_line(problem.what()) << "\n";
    return flor::commands::kFailed;
  }
}
