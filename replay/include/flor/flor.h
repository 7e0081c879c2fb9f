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
// Call everything on the thread that trains. A program that is neither recorded nor replayed is "outside
// flor": its loops are plain ranges, its blocks always execute, and flor::log prints.
#pragma once

#include "flor/archive.h"
#include "flor/log.h"
#include "flor/logger.h"
#include "flor/loop.h"
#include "flor/sampler.h"
#include "flor/skip_block.h"

// Stores the name of this translation unit in the program, so that flor learns the program's sources without
// running it (docs/formats.md).
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
