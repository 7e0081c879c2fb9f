// Flor: record a training run once, ask it anything later.
//
//   for (int64_t epoch : flor::loop("epoch", epochs)) {
//     if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
//       for (auto& batch : *loader) { …; flor::log("loss", loss.item<double>()); }
//     }
//     scheduler.step();
//     flor::log("accuracy", evaluate(net, *test_loader));
//   }
//
// Record:  srun --flor-record ./train     or   flor record -- ./train
// Replay:  flor replay RUN -- ./train_with_more_logging
//
// A program that is neither recorded nor replayed is "outside flor": its loops are plain ranges, its blocks
// always execute, and flor::log prints to stdout. Call everything on the thread that trains, the first one
// that enters a loop, a block or a guard: on other threads everything behaves as outside flor, but that rows
// of a recorded or replayed program are only printed there. flor::Logger is for all threads.
//
// Names: in those of loops and blocks, other characters than letters, digits, '_', '.' and '-' become '_'.
//
// While recording, SIGTERM has flor take a last checkpoint where one is near enough, unless the program has a
// handler of its own. The process then ends inside a call of flor; where none is near, at once. In a replay
// any call may end the process, or start the program again: no destructor and no exit handler runs.
//
// Include this header, not its parts: it leaves the name of the source file in the program, by which flor
// finds the program's sources without running it.
#pragma once

#include "flor/archive.h"
#include "flor/log.h"
#include "flor/logger.h"
#include "flor/loop.h"
#include "flor/sampler.h"
#include "flor/skip_block.h"

#if defined(__has_attribute)
#if __has_attribute(retain)
#define FLOR_DETAIL_RETAIN , retain
#endif
#endif
#ifndef FLOR_DETAIL_RETAIN
#define FLOR_DETAIL_RETAIN
#endif
namespace {
// Each unit has its own. NOLINTNEXTLINE(misc-definitions-in-headers)
__attribute__((used FLOR_DETAIL_RETAIN, section("flor_sources"))) const char flor_translation_unit[] =
    __BASE_FILE__;
}  // namespace
