// flor export: writes a checkpoint as a file for users of PyTorch or safetensors.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <system_error>

#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/cli/commands.h"
#include "core/base/units_text.h"
#include "core/checkpoint/kinds.h"
#include "core/checkpoint/reader.h"
#include "core/checkpoint/recorded_timeline.h"
#include "export/choose.h"
#include "export/pytorch.h"
#include "export/safetensors.h"
#include "results/results.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::string run, store, block, best, output;
  std::string format;
  std::optional<int64_t> epoch;
  bool min = false, max = false, json = false;
};

// Returns --format, or, without it, the format that the output's name suggests.
std::string format_of(const Flags& flags) {
  if (!flags.format.empty()) return flags.format;
  const fs::path suffix = fs::path(flags.output).extension();
  return suffix == ".pt" || suffix == ".pth" ? "pt" : "safetensors";
}

void require_sense(const Flags& flags) {
  if (flags.epoch.has_value() != flags.best.empty()) {
    throw core::UsageError("flor export takes either --epoch E or --best NAME: which epoch's checkpoint?");
  }
  if ((flags.min || flags.max) && flags.best.empty())
    throw core::UsageError("--min and --max say which value of --best NAME is the best; --best is missing");
}

// Searches the recorded rows and those that replays added.
exporting::Best best_epoch(const core::RunDir& run, const core::Manifest& manifest, const Flags& flags) {
  const results::JoinedRows joined = results::read_joined(run, manifest);
  for (const auto& warning : joined.warnings) print_error("warning: " + warning);
  return exporting::best_epoch(manifest, joined.rows, flags.best, flags.max);
}

// Returns "the smallest loss, 0.25, is that of epoch 7".
std::string text_of(const exporting::Best& best, const core::Manifest& manifest, const Flags& flags) {
  return std::string("the ") + (flags.max ? "largest " : "smallest ") + flags.best + ", " +
         core::number_text(best.value) + ", is that of " + manifest.main_loop()->name + " " +
         std::to_string(best.epoch);
}

exporting::Chosen choose(const Flags& flags, const core::RunDir& run, const core::Manifest& manifest,
                         int64_t epoch, const std::string& why) {
  try {
    return exporting::choose(manifest, core::recorded_timeline(run), epoch, flags.block);
  } catch (const core::UsageError& problem) {
    if (why.empty()) throw;
    throw core::UsageError(why + ", but " + problem.what());
  }
}

fs::path output_of(const Flags& flags, const core::Manifest& manifest, const exporting::Chosen& chosen,
                   int64_t epoch) {
  fs::path path = flags.output;
  if (path.empty()) {
    std::string name = (manifest.name.empty() ? manifest.id : manifest.name) + "-" +
                       manifest.main_loop()->name + "=" + std::to_string(epoch) +
                       (chosen.block == core::iteration_kind ? "" : "-" + chosen.block) + "." + flags.format;
    // Another user may have written the manifest, so its names must not lead to another directory.
    std::replace(name.begin(), name.end(), '/', '_');
    path = name;
  }
  path = fs::absolute(path);
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    throw core::UsageError(path.string() + " is a directory; name a file in it (--output)");
  if (fs::exists(fs::symlink_status(path, ignored)))
    throw core::UsageError(path.string() + " exists; remove it, or choose another file (--output)");
  if (!fs::is_directory(path.parent_path(), ignored)) {
    throw core::UsageError("there is no directory " + path.parent_path().string() +
                           " to write into; create it, or choose another file (--output)");
  }
  if (::access(path.parent_path().c_str(), W_OK) != 0) {
    throw core::UsageError("cannot write into " + path.parent_path().string() + " (" +
                           std::generic_category().message(errno) + "); choose another file (--output)");
  }
  return path;
}

core::Checkpoint load(const core::RunDir& run, const exporting::Chosen& chosen) {
  core::Checkpoint checkpoint = core::Checkpoint::load(run, chosen.file);
  if (checkpoint.header().state != chosen.state || checkpoint.header().at != chosen.at)
    throw core::Damage(chosen.file + ": it is not the checkpoint that the timeline names");
  return checkpoint;
}

void run_export(const Flags& flags) {
  require_sense(flags);
  const core::RunDir run = store_of(flags.store).find(flags.run);
  const core::Manifest manifest = core::read_manifest_and_progress(run);
  std::optional<exporting::Best> best;
  if (!flags.epoch) best = best_epoch(run, manifest, flags);
  const std::string why = best ? text_of(*best, manifest, flags) : "";
  const int64_t epoch = best ? best->epoch : *flags.epoch;
  const auto chosen = choose(flags, run, manifest, epoch, why);
  const fs::path output = output_of(flags, manifest, chosen, epoch);
  const core::Checkpoint checkpoint = load(run, chosen);
  if (flags.format == "pt") {
    exporting::write_pytorch(output, checkpoint.tensors());
  } else {
    exporting::write_safetensors(output, checkpoint.tensors(),
                                 {{"format", "pt"},  // transformers requires it: names and layouts of PyTorch
                                  {"run", run.id()},
                                  {"name", manifest.name},
                                  {"at", chosen.at},
                                  {"block", chosen.block},
                                  {"state", chosen.state}});
  }
  std::uint64_t bytes = 0;
  for (const auto& [name, tensor] : checkpoint.tensors()) bytes += tensor.bytes;
  if (flags.json) {
    core::Json json = {{"file", output.string()},
                       {"format", flags.format},
                       {"run", run.id()},
                       {"epoch", epoch},
                       {"at", chosen.at},
                       {"block", chosen.block},
                       {"checkpoint", chosen.file},
                       {"tensors", checkpoint.tensors().size()},
                       {"bytes", bytes}};
    if (best) json["best"] = {{"name", flags.best}, {"value", best->value}};
    print_json(json);
    return;
  }
  print("wrote " + output.string() + ": " + counted(checkpoint.tensors().size(), "tensor") + ", " +
        core::bytes_text(bytes) + ", of " + chosen.at + " in run " + run.id() +
        (why.empty() ? "" : "; " + why) + "\n");
}

}  // namespace

void add_export(CLI::App& app, Outcome& /*outcome*/) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("export", "Write a checkpoint as one file that PyTorch or safetensors open");
  command->add_option("run", flags->run, "a run: its id, its name, or the beginning of its id")->required();
  command->add_option("--epoch", flags->epoch, "the iteration of the main loop whose end state to export")
      ->check(whole_number());
  command->add_option("--best", flags->best,
                      "instead of --epoch: the iteration whose last row of this name is the smallest");
  auto* min = command->add_flag("--min", flags->min, "with --best: the smallest (default)");
  command->add_flag("--max", flags->max, "with --best: the largest")->excludes(min);
  command->add_option("--block", flags->block,
                      "the block whose checkpoint it is (default: the iteration's, else the only block's)");
  command
      ->add_option(
          "--format", flags->format,
          "safetensors or pt, for torch.load (default: what the output's name says, else safetensors)")
      ->check(CLI::IsMember({"safetensors", "pt"}));
  command->add_option("--output", flags->output,
                      "the file to write (default: here, RUN-epoch=E.FORMAT, or RUN-epoch=E-BLOCK.FORMAT)");
  command->add_flag("--json", flags->json, "one JSON object");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags] {
    flags->format = format_of(*flags);
    run_export(*flags);
  });
}

}  // namespace flor::commands
