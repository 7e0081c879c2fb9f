// flor watch: shows the runs of a store in the terminal, live.
#include "dashboard/watch.h"

#include <memory>

#include "commands/base/interrupt.h"
#include "commands/base/options.h"
#include "commands/cli/commands.h"

namespace flor::commands {
namespace {

struct Flags {
  std::string run, store;
};

void watch(const Flags& flags) {
  const core::Store store = existing_store_of(flags.store);
  const auto run = flags.run.empty() ? std::nullopt : std::optional(store.find(flags.run));
  const Interrupt interrupt;
  dashboard::watch(store, run, [&interrupt] { return interrupt.happened(); });
}

}  // namespace

void add_watch(CLI::App& app, Outcome& /*outcome*/) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("watch", "Show the runs of the store, or one, in the terminal, live");
  command->add_option("run", flags->run,
                      "a run: its id, its name, or the beginning of its id; without it, all");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags] { watch(*flags); });
}

}  // namespace flor::commands
