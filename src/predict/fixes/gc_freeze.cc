// SPDX-License-Identifier: Apache-2.0
#include "predict/fix.h"

namespace gapless::internal::gc_freeze_fix {
namespace {

constexpr std::string_view kCures[] = {"garbage_collection", "run_garbage", "host_pauses", "straggler",
                                       "host_straggler"};

}  // namespace

FIX(gc_freeze) = {
    .name = "gc_freeze",
    .help = "Stop collecting garbage in the middle of steps",
    .safety = Safety::kExact,
    .trial = {.why = "Where Python's collector pauses steps. What exists is taken out of its sight (gc.freeze()) and "
                     "it no longer runs by itself. The numbers stay. A program that makes cycles of objects in each "
                     "step grows without it: watch its memory over a long run. Prior: as much as the pauses take; with "
                     "many ranks, where each waits for the one that collects, more.",
              .effort = Effort::kQuick,
              .choice = {.order = 56, .cures = kCures, .blind = true},
              .live = {.between_steps = true},
              .values = Always,
              .changes = Changes::kBoth}};

}  // namespace gapless::internal::gc_freeze_fix
