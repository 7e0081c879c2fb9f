// flor export: writes a checkpoint as a file for users of PyTorch or safetensors, or rows for TensorBoard.
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "commands/base/interrupt.h"
#include "commands/base/new_file.h"
#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/cli/commands.h"
#include "core/base/units_text.h"
#include "core/checkpoint/kinds.h"
#include "core/checkpoint/reader.h"
#include "core/checkpoint/recorded_timeline.h"
#include "core/files/durable.h"
#include "core/store/scope.h"
#include "export/choose.h"
#include "export/pytorch.h"
#include "export/safetensors.h"
#include "export/tensorboard.h"
#include "results/follow.h"
#include "results/results.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;

constexpr auto look_every = std::chrono::milliseconds(500);

struct Flags {
  std::string run, store, block, best, output;
  std::string format;
  std::optional<int64_t> epoch;
  std::string tensorboard;
  bool min = false, max = false, json = false, follow = false;
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

fs::path output_of(const Flags& flags, const core::RunDir& run, const core::Manifest& manifest,
                   const exporting::Chosen& chosen, int64_t epoch) {
  fs::path path = flags.output;
  if (path.empty()) {
    path = file_name_of(run, manifest) + "-" + core::clean_name(manifest.main_loop()->name) + "=" +
           std::to_string(epoch) +
           (chosen.block == core::iteration_kind ? "" : "-" + core::clean_name(chosen.block)) + "." +
           flags.format;
  }
  return new_file(path);
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
  const fs::path output = output_of(flags, run, manifest, chosen, epoch);
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

fs::path event_directory(const fs::path& root, const std::string& name) {
  try {
    core::create_directories_durably(root / name);
  } catch (const std::system_error& problem) {
    throw core::UsageError("cannot make the directory " + (root / name).string() + " (" +
                           problem.code().message() + "); choose another one (--tensorboard)");
  }
  return root / name;
}

void tell_exported(const fs::path& directory, const core::EventCounts& done) {
  std::string line = "wrote " + directory.string() + ": " + counted(done.scalars, "number");
  if (done.histograms > 0) line += ", " + counted(done.histograms, "histogram");
  if (done.images > 0) line += ", " + counted(done.images, "image");
  if (done.left_out > 0)
    line += "; " + counted(done.left_out, "row") + " left out, which TensorBoard cannot show";
  print(line + "\n");
}

// Writes the rows of a recording as they come, until it ends or a signal comes.
void follow_events(const core::RunDir& run, const core::Manifest& manifest, const fs::path& directory) {
  exporting::RunEvents file(run, manifest, directory);
  core::EventSteps steps;
  const auto follower = results::follow_record(run);
  const Interrupt interrupt;
  for (bool last = false; !last && !interrupt.happened();) {
    last = follower->ended();
    const auto rows = follower->more();
    for (const auto& row : rows) steps.learn(core::scope_loops(row.at));
    file.append(rows, steps);
    if (!last) std::this_thread::sleep_for(look_every);
  }
  tell_exported(directory, file.counts());
}

// Rows that replays added come late. They get a directory of their own, in order of their steps.
void export_events(const Flags& flags) {
  const core::RunDir run = store_of(flags.store).find(flags.run);
  const core::Manifest manifest = core::read_manifest_and_progress(run);
  const std::string name = file_name_of(run, manifest);
  const fs::path recorded_in = event_directory(flags.tensorboard, name);
  if (flags.follow && run.is_being_recorded()) return follow_events(run, manifest, recorded_in);
  results::JoinedRows joined = results::read_joined(run, manifest);
  for (const auto& warning : joined.warnings) print_error("warning: " + warning);
  core::EventSteps steps;
  const auto added =
      joined.rows.begin() + static_cast<std::ptrdiff_t>(exporting::sort_for_tensorboard(joined, steps));
  const std::vector<results::Row> recorded(joined.rows.begin(), added), replayed(added, joined.rows.end());
  const auto write = [&](const fs::path& directory, const std::vector<results::Row>& rows) {
    exporting::RunEvents file(run, manifest, directory);
    file.append(rows, steps);
    tell_exported(directory, file.counts());
  };
  write(recorded_in, recorded);
  if (!replayed.empty()) write(event_directory(flags.tensorboard, name + ".replayed"), replayed);
}

}  // namespace

void add_export(CLI::App& app, Outcome& /*outcome*/) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "export", "Write a checkpoint for PyTorch or safetensors, or the rows for TensorBoard");
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
  auto* tensorboard = command->add_option(
      "--tensorboard", flags->tensorboard,
      "instead of a checkpoint: write the rows as event files of TensorBoard into this directory, those of "
      "the recording into DIR/RUN and those that replays added into DIR/RUN.replayed");
  command
      ->add_flag("--follow", flags->follow,
                 "with --tensorboard: while the run is recorded, write its rows as they come")
      ->needs(tensorboard);
  auto* json = command->add_flag("--json", flags->json, "one JSON object");
  for (const char* other : {"--epoch", "--best", "--block", "--format", "--output"})
    tensorboard->excludes(command->get_option(other));
  tensorboard->excludes(json);
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags] {
    if (!flags->tensorboard.empty()) return export_events(*flags);
    flags->format = format_of(*flags);
    run_export(*flags);
  });
}

}  // namespace flor::commands
