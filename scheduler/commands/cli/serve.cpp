// flor serve: shows the runs of a store in a browser.
#include "dashboard/serve.h"

#include <memory>
#include <optional>

#include "commands/base/interrupt.h"
#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/base/served.h"
#include "commands/base/token.h"
#include "commands/cli/commands.h"
#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/config/settings.h"

namespace flor::commands {
namespace {

struct Flags {
  std::string store, listen = "127.0.0.1:0", metrics_token_file;
  std::vector<std::string> names;
};

dashboard::ServeOptions options_of(const Flags& flags) {
  const auto colon = flags.listen.rfind(':');
  const auto port = core::parse_number<std::uint16_t>(flags.listen.substr(colon + 1));
  if (colon == std::string::npos || colon == 0 || !port)
    throw core::UsageError("--listen takes ADDRESS:PORT, as 127.0.0.1:7070, not '" + flags.listen + "'");
  dashboard::ServeOptions out;
  out.address = flags.listen.substr(0, colon);
  if (out.address.front() == '[') out.address = out.address.substr(1, out.address.size() - 2);
  out.port = *port;
  out.names = flags.names;
  out.names.push_back(core::node_name());
  out.token = new_token();
  if (!flags.metrics_token_file.empty()) out.metrics_token = token_in(flags.metrics_token_file);
  return out;
}

void serve(const Flags& flags) {
  const core::Store store = existing_store_of(flags.store);
  const dashboard::ServeOptions options = options_of(flags);
  const Interrupt interrupt;
  std::optional<ServedNote> note;
  const auto ready = [&](std::uint16_t port) {
    const std::string number = std::to_string(port);
    // The address itself: the name localhost may lead to another one, where another user may listen.
    const bool is_any = options.address == "0.0.0.0" || options.address == "::";
    const bool is_v6 = options.address.find(':') != std::string::npos;
    const std::string address = is_v6 ? "[" + options.address + "]" : options.address;
    const std::string root = "http://" + (is_any ? core::node_name() : address) + ":" + number;
    print("the runs of " + store.path().string() + ": " + root + "/#token=" + options.token + "\n");
    if (!is_any)
      print("from another machine, first: ssh -L " + number + ":" + address + ":" + number + " " +
            core::node_name() + "\n");
    print("Ctrl-C ends it\n");
    note.emplace(store, root);
  };
  dashboard::serve(store, options, ready, [&interrupt] { return interrupt.happened(); });
}

}  // namespace

void add_serve(CLI::App& app, Outcome& /*outcome*/) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("serve", "Show the runs of the store in a browser, live");
  command
      ->add_option(
          "--listen", flags->listen,
          "the address and port to listen on; port 0 is any free one. Who has the link that is printed may "
          "look, and nothing is encrypted: on an address that others reach, better use ssh -L")
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  command->add_option("--name", flags->names, "a further name of this machine that browsers may use")
      ->type_name("HOST");
  command
      ->add_option("--metrics-token-file", flags->metrics_token_file,
                   "a file with a token that opens /metrics and nothing else, for Prometheus; made where it "
                   "is missing "
                   "(the token of the link is a new one at each start)")
      ->type_name("FILE");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags] { serve(*flags); });
}

}  // namespace flor::commands
